-- doc: Results that answer calls: re-renderings left out, each with the number of the call that it answers.
-- grain: one row per result that is no re-rendering and not recovered
-- needs: answering_results, numbered_results
-- Files in which an id is used again are few, and known.
select *, 1::bigint as call_number from answering_results where not may_repeat
union all
from numbered_results
