-- doc: Everything that is wrong or doubtful with cassettes. A cassette is sound when no row of severity fail has it.
-- grain: one row per failed check
-- needs: cassette_line_findings, cassette_missing_sequences, cassette_missing_occurrences, cassette_ambiguity
-- Of several the original tool reports the one of severity fail with the least (line, rank).
with found as materialized (
    select 'fail' as severity, * exclude (subject_kind) rename (subject_id as source_id), true as is_at_line
    from cassette_line_findings
    union all
    select 'fail' as severity, * exclude (subject_kind) rename (subject_id as source_id), false as is_at_line
    from (from cassette_missing_sequences union all from cassette_missing_occurrences)
    union all
    select 'warn' as severity, * exclude (subject_kind) rename (subject_id as source_id), null as is_at_line
    from cassette_ambiguity
)
select * exclude (is_at_line) from found
where not (not is_at_line and source_id in (select distinct source_id from found where is_at_line))
