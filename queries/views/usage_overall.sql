-- doc: Tokens and cost of the whole lake, and the share of its prompts that was read from the cache.
-- grain: one row
-- needs: priced_usage
select totals.* from (select usage_totals(u) as totals from priced_usage as u)
