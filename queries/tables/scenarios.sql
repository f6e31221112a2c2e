-- doc: Fixture scenarios: what the manifest of each states.
-- grain: one row per manifest, also of those that cannot be used
-- needs: stored.scenarios, source_status
select
    s.source_id,
    regexp_extract(s.path, '([^/]*/[^/]*)/[^/]*$', 1) as scenario_key,
    regexp_replace(s.path, '/[^/]*$', '') as folder,
    m.version, m.scenario, m.profile, m.composition, m.recording, m.header_class, m.is_pin,
    m.system_prompt_source, m.tool_schemas_source, m.child_system_prompts, m.child_tool_schemas, m.changes,
    m.prompt_changes, m.has_override, m.platform, m.permission, m.environment, m.workspace_setup,
    m.is_workspace_final, m.workspace_parent, m.task, m.attachments, m.session_source, m.retained_version,
    m.coverage, m.fault, s.missing_since
from stored.scenarios as m
inner join source_status as s on m.source_key = s.source_key and m.batch between s.first_batch and s.last_batch
where s.kind = 'manifest'
