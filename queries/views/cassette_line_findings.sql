-- doc: What the lines of cassettes fail, by themselves and against earlier lines.
-- grain: one row per failed check that stands at a line
-- needs: cassette_records, cassette_publication, cassette_hash_mismatches, cassette_chain_breaks, cassette_storage_disagreements, cassette_duplicate_sequences, cassette_duplicate_call_keys, cassette_duplicate_occurrences
from (
    from cassette_records
    union all
    from cassette_publication
    union all
    from cassette_hash_mismatches
    union all
    from cassette_chain_breaks
    union all
    from cassette_storage_disagreements
    union all
    from cassette_duplicate_sequences
    union all
    from cassette_duplicate_call_keys
    union all
    from cassette_duplicate_occurrences
)
