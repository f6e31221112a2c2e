-- doc: Everything worth telling about the files read: faults, warnings, remarks.
-- grain: one row per finding
-- needs: session_findings, cassette_findings
from session_findings
union all
select source_id, severity, code, path, position, message from cassette_findings
