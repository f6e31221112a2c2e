-- doc: Event types that this reader does not know: how many events of each there are, and where the first is.
-- grain: one row per unknown event type
-- needs: stored.events, source_status
-- Inherited events count too, those of torn last frames do not. Types that are marked as ignorable are told in no
-- finding, but stand here.
select
    e.type,
    count(*) as events,
    count(distinct s.source_id) as files,
    min(s.format_version) as first_format_version,
    max(s.format_version) as last_format_version,
    arg_min(s.path, (s.path, e.line)) as path,
    arg_min(e.line, (s.path, e.line)) as line
from stored.events as e
inner join source_status as s on e.source_key = s.source_key and e.batch between s.first_batch and s.last_batch
where s.is_counted and not e.is_tail and not e.is_recovered
    and e.type not in (
        'agent-preset/selected', 'agent/inbox/spliced', 'approval/asked', 'approval/decided', 'approval/policy',
        'assistant/attempt', 'assistant/chunk', 'assistant/message', 'command/done', 'command/run', 'compact/end',
        'compact/prune', 'compact/start', 'compact/summary', 'compaction/end', 'compaction/prune',
        'compaction/start', 'compaction/summary', 'deliverables/presented', 'developer/message',
        'feedback/message-delete', 'feedback/message-put', 'feedback/record', 'goal/change', 'hook/invoked',
        'hook/result', 'image/offload', 'job/registered', 'job/settled', 'llm/retry', 'llm/retry-started',
        'mode/set', 'model/selection', 'permission/preset', 'plan/mode', 'request/context', 'request/header',
        'request/header-delta', 'sandbox/mode', 'schedule/change', 'session-log-deepseek/delivery-accepted',
        'session/end-seed', 'session/title', 'session/title-llm-request', 'steering/message', 'step/end',
        'step/start', 'subagent/catalog', 'subagent/descriptor', 'subagent/model-selection-policy',
        'system/message', 'team/member', 'team/message/delivered', 'team/message/queued', 'team/task',
        'todo/write', 'tool-workflow/agent-end', 'tool-workflow/agent-start', 'tool-workflow/run-end',
        'tool-workflow/run-start', 'tool/call', 'tool/code-dispatch', 'tool/code-dispatch-start',
        'tool/ptc-dispatch', 'tool/ptc-dispatch-start', 'tool/result', 'turn/end', 'turn/start', 'user/message',
        'web/deepseek-search-llm-request', 'working-directory/change', 'workspace/changes'
    )
group by e.type
order by events desc, e.type
