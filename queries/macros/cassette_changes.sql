-- doc: What differs between pairs of cassettes: calls aligned by parent, parent context, request and occurrence.
-- grain: one row per difference; a pair is equivalent when all its rows are of change timing
-- needs: cassettes, interactions, ambiguous_groups
-- params: pairs
-- pairs: a list of {expected: source_id, actual: source_id}.
-- change: issue (why the pair is not comparable), policy (recorded in another way), added, removed, outcome,
-- boundary (published or local), timing. what: the issue, the policy, or the members that differ.
with sides as (
    select pair.expected as expected, pair.actual as actual from (select unnest(pairs) as pair)
),

headers as (
    select
        s.expected, s.actual, e.inherits_parent_context is distinct from a.inherits_parent_context as is_other_context,
        [
            case when e.provider_cassette is distinct from a.provider_cassette then 'provider.cassette' end,
            case when e.provider_upstream is distinct from a.provider_upstream then 'provider.upstream' end,
            case when e.capabilities is distinct from a.capabilities then 'provider.capabilities' end,
            case
                when e.inherits_parent_context is distinct from a.inherits_parent_context
                    then 'provider.inheritsParentContext'
            end,
            case when e.request_storage is distinct from a.request_storage then 'requestStorage' end,
            case when e.redact_secrets is distinct from a.redact_secrets then 'redactSecrets' end,
            case when e.redaction_patterns is distinct from a.redaction_patterns then 'redactionPatterns' end
        ] as policies
    from sides as s
    inner join cassettes as e on e.source_id = s.expected
    inner join cassettes as a on a.source_id = s.actual
),

ambiguous as (select distinct source_id from ambiguous_groups),

differing as (
    select expected, actual, 0 as place, 'issue' as change, 'expected-ambiguous-duplicate-groups' as what
    from sides
    where expected in (from ambiguous)
    union all
    select expected, actual, 1 as place, 'issue' as change, 'actual-ambiguous-duplicate-groups' as what
    from sides
    where actual in (from ambiguous)
    union all
    select expected, actual, 2 as place, 'issue' as change, 'parent-context-semantics-changed' as what
    from headers
    where is_other_context
    union all
    select expected, actual, 3 + place as place, 'policy' as change, policies[place] as what
    from (select *, unnest(range(1, 8)) as place from headers)
    where policies[place] is not null
),

expected_calls as (
    select s.expected, s.actual, i.*, coalesce(i.stop_reason, i.outcome_kind) as ending
    from sides as s
    inner join interactions as i on i.source_id = s.expected
),

actual_calls as (
    select s.expected, s.actual, i.*, coalesce(i.stop_reason, i.outcome_kind) as ending
    from sides as s
    inner join interactions as i on i.source_id = s.actual
),

aligned as (
    select
        expected, actual, parent_key, parent_context_fingerprint, request_fingerprint, occurrence,
        e.source_id is null as is_added, a.source_id is null as is_removed,
        coalesce(e.call_key, a.call_key) as call_key, a.call_key as actual_call_key,
        e.ending as expected_ending, a.ending as actual_ending,
        e.outcome_fingerprint <> a.outcome_fingerprint as has_other_outcome,
        nullif(concat_ws(
            ', ', case when e.published <> a.published then 'published' end,
            case when e.is_local <> a.is_local then 'local' end
        ), '') as boundary,
        a.start_latency_ms - e.start_latency_ms as start_latency_delta_ms,
        a.duration_ms - e.duration_ms as duration_delta_ms
    from expected_calls as e
    full outer join actual_calls as a
        using (expected, actual, parent_key, parent_context_fingerprint, request_fingerprint, occurrence)
),

changed as (
    select *, 11 as place, 'added' as change, null as what from aligned where is_added
    union all
    select *, 12 as place, 'removed' as change, null as what from aligned where is_removed
    union all
    select *, 13 as place, 'outcome' as change, null as what from aligned where has_other_outcome
    union all
    select *, 14 as place, 'boundary' as change, boundary as what from aligned where boundary is not null
    union all
    select *, 15 as place, 'timing' as change, null as what
    from aligned
    where start_latency_delta_ms <> 0 or duration_delta_ms <> 0
),

found as (
    from differing
    union all by name
    select * exclude (is_added, is_removed, has_other_outcome, boundary) from changed
)

select
    found.expected, found.actual, e.path as expected_path, a.path as actual_path, found.change, found.what,
    found.call_key, found.actual_call_key, found.parent_key, found.parent_context_fingerprint,
    found.request_fingerprint, found.occurrence, found.expected_ending, found.actual_ending,
    found.start_latency_delta_ms, found.duration_delta_ms
from found
inner join cassettes as e on e.source_id = found.expected
inner join cassettes as a on a.source_id = found.actual
order by
    expected_path, actual_path, found.place, found.parent_key, found.parent_context_fingerprint,
    found.request_fingerprint, found.occurrence
