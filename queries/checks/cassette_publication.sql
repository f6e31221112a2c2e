-- doc: Calls whose outcome contradicts whether the child was published, or that ran locally without a child.
-- grain: one row per failed check
-- needs: interactions, cassettes
-- severity: fail
with judged as (
    select
        *,
        case
            when outcome_kind = 'start-error' and published then 8
            when outcome_kind <> 'start-error' and not published then 9
        end as publication,
        case when is_local and not published then 10 end as locality
    from interactions
),

failed as (
    select
        *, publication as check_number, 'bad-publication' as code,
        case publication
            when 8 then ' start-error must be unpublished' else ' post-publication outcome must be published'
        end as message
    from judged
    where publication is not null
    union all
    select
        *, locality as check_number, 'bad-locality' as code, ' an unpublished interaction cannot be local' as message
    from judged
    where locality is not null
)

select
    'cassette' as subject_kind, f.source_id as subject_id, c.path, 'line ' || f.line as position,
    'line ' || f.line || f.message as message, f.line, f.check_number * 1000000 as rank, f.code, f.physical_line
from failed as f
inner join cassettes as c using (source_id)
