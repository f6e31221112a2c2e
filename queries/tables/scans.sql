-- doc: What each scan did, and the version of every other table that it made current.
-- grain: one row per scan (and per compaction or pruning)
-- needs: stored.scans
select * from stored.scans
