-- doc: The whole aligned difference of the parts that differ, with what each place comes from.
-- grain: one row per place
-- needs: drift_places, drift_changes
with told as (
    select
        pair, part, place, max(change) as change, list_sort(list(distinct cause)) as causes,
        list_sort(list_distinct(flatten(list(members)))) as members
    from drift_changes
    group by all
)

select
    p.pair, p.part, p.place, coalesce(t.change, 'same') as change, p.expected_line, p.actual_line, p.type,
    coalesce(p.expected_tool, p.actual_tool) as tool,
    coalesce(t.causes, []) as causes,
    coalesce(t.members, []) as members,
    sha256(p.expected_text) as expected_sha256, sha256(p.actual_text) as actual_sha256,
    p.expected_text, p.actual_text
from drift_places as p
left join told as t on t.pair = p.pair and t.part = p.part and t.place = p.place
order by p.pair, p.part, p.place
