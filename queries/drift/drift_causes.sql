-- doc: What a difference can come from, with the tier that it belongs to; the gravest come first.
-- grain: one row per cause
select rank, cause, tier, meaning
from (
    values
    (10, 'unreadable', 'shape', 'a log cannot be read, or its files are no complete set of roles'),
    (11, 'scenario-missing', 'shape', 'nothing was run for this scenario'),
    (12, 'scenario-added', 'shape', 'there is no fixture for this run'),
    (13, 'role-missing', 'shape', 'the run has fewer sessions'),
    (14, 'role-added', 'shape', 'the run has more sessions'),
    (20, 'new-event-type', 'shape', 'events of a type that the other side has none of'),
    (21, 'event-type-gone', 'shape', 'no events any more of a type'),
    (22, 'header-changed', 'shape', 'the header of the session says otherwise'),
    (23, 'rows-added', 'shape', 'more events, of types that both sides have'),
    (24, 'rows-removed', 'shape', 'fewer events'),
    (25, 'order-changed', 'shape', 'the same events in another order'),
    (26, 'members-changed', 'shape', 'events have other members'),
    (27, 'ids-crossed', 'shape', 'an id stands where another one stood'),
    (28, 'references-changed', 'shape', 'an event names other events as its sources'),
    (29, 'value-changed', 'shape', 'a setting, state or number is another'),
    (30, 'workspace-changed', 'shape', 'the run left other files'),
    (33, 'tool-sequence-changed', 'tools', 'other tools were called, in another order, or no longer together'),
    (34, 'tool-arguments-changed', 'tools', 'the same tools were called with other arguments'),
    (35, 'tool-outcome-changed', 'tools', 'calls fail that did not, or the reverse'),
    (40, 'text-changed', 'text', 'only words differ'),
    (41, 'tool-result-changed', 'text', 'the same calls gave back something else'),
    (42, 'output-changed', 'text', 'an expected output differs: a transcript, a prompt, schemas'),
    (43, 'usage-moved', 'text', 'only counts of tokens differ'),
    (44, 'call-ids-changed', 'text', 'the ids of tool calls are others'),
    (45, 'stream-cuts', 'text', 'the same text arrived in other pieces'),
    (50, 'interruption-timing', 'noise', 'how far a turn came before it was interrupted'),
    (51, 'job-ids', 'noise', 'random ids of background jobs'),
    (52, 'job-clocks', 'noise', 'when background jobs began and ended'),
    (53, 'retry-delay', 'noise', 'how long was waited before a call was tried again'),
    (54, 'goal-clocks', 'noise', 'clocks in the inner parts of a goal'),
    (55, 'stream-ids', 'noise', 'an id that the stream cuts into fragments'),
    (56, 'spill-paths', 'noise', 'random folders of spilled output'),
    (57, 'ids-renumbered', 'noise', 'numbers of ids that moved with the rows before them')
) as causes (rank, cause, tier, meaning)
