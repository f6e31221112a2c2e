-- doc: Secrets in free text: what the patterns of cassette redaction hit, and members of JSON that are named as secrets.
-- grain: one row per place and secret, which only its fingerprint tells
-- needs: free_texts
-- params: may_hold, bearer, token, aws_key_id, assignment, json_token, secret_name, assigned_name, redacted, key
-- JSON is cut into its strings by their spelling, not parsed: lone surrogates, absurd numbers, deep nesting and JSON
-- that is cut off hide nothing. A token is a string and, where it is the name of a member, the colon and what stands
-- there of the value: a number or word, an opening bracket, or nothing where the value is a string, the next token.
-- A string that is JSON itself, such as the arguments in the data of a tool call, is cut in its turn. Recording reads
-- such a string as a text, to which the value of a member is what is assigned to its name: so are they read here.
-- Each pattern sees the output of the one before, as when a cassette is recorded. What is redacted is no secret.
with recursive strings as (
    -- Cheap first: one pass over all text, for what looks like a secret however often it is escaped.
    select
        place, text, false as is_member, not is_json as is_inner,
        is_json or (regexp_matches(text, '^[ \t\r\n]*[\[{]') and json_valid(text)) as has_json
    from free_texts
    where regexp_matches(text, $may_hold)

    union all

    select
        place, text, is_member, true as is_inner,
        not is_member and regexp_matches(text, '^[ \t\r\n]*[\[{]') and json_valid(text) as has_json
    from (
        select
            place, is_member,
            case
                when token.value in ('{', '[') then null
                when token.value != '' then token.value
                when not contains(token.spelled, '\') then token.spelled[2:-2]
                -- Half a character is one unit to the patterns, and so is what stands in its place here.
                else regexp_replace(
                    replace(token.spelled, '\\', '\u005c'), '\\u[dD][89a-fA-F][0-9a-fA-F]{2}', '\\ufffd', 'g'
                )::json ->> '$'
            end as text
        from (
            select
                place, token,
                -- The name of the member whose value the token is, or states.
                case
                    when token.colon = '' and before.colon != '' and before.value = '' then before.spelled
                    when token.value not in ('', 'null', 'true', 'false') then token.spelled
                end as name,
                coalesce(
                    case
                        when not is_inner then regexp_matches(name, $secret_name)
                        when token.value not in ('{', '[')
                            then regexp_matches(name, $secret_name) or regexp_matches(name, $assigned_name)
                    end,
                    false
                ) as is_member
            from (
                select
                    place, is_inner, unnest(tokens) as token, unnest([null] || tokens[:-2]) as before
                from (
                    select
                        place, is_inner,
                        list_transform(
                            regexp_extract_all(text, $json_token),
                            lambda one: regexp_extract(one, $json_token, ['spelled', 'colon', 'value'])
                        ) as tokens
                    from strings
                    where has_json
                )
            )
        )
        where is_member or token.colon = ''
    )
    where is_member or regexp_matches(text, $may_hold)
),

redacted_in_order as (
    select
        place, text,
        regexp_replace(text, $bearer, $redacted, 'g') as without_bearers,
        regexp_replace(without_bearers, $token, $redacted, 'g') as without_tokens,
        regexp_replace(without_tokens, $aws_key_id, $redacted, 'g') as without_key_ids
    from strings
    where not has_json and not is_member
),

hits as (
    select place, 'bearer' as kind, unnest(regexp_extract_all(text, $bearer)) as secret from redacted_in_order
    union all
    select place, 'token' as kind, unnest(regexp_extract_all(without_bearers, $token)) as secret from redacted_in_order
    union all
    select place, 'aws-key-id' as kind, unnest(regexp_extract_all(without_tokens, $aws_key_id)) as secret
    from redacted_in_order
    union all
    select place, 'assignment' as kind, unnest(regexp_extract_all(without_key_ids, $assignment, 2)) as secret
    from redacted_in_order
    union all
    select place, 'member' as kind, text as secret from strings where is_member
)

select
    place.path as path, place.line as line, place.table_name as table_name, place.column_name as column_name,
    kind, left(sha256($key || secret), 12) as fingerprint, bool_or(place.is_current) as is_current
from hits
where secret is null or secret not in ('', $redacted)
group by all
order by path, line, table_name, column_name, kind, fingerprint
