-- doc: JSON that the engine's functions of JSON can read: half a character, such as a text cut at an emoji, is U+FFFD.
-- grain: one row, a value
-- params: text
-- DSH writes a lone surrogate as an escape, which is JSON, but the engine refuses the whole text, and with it the
-- query. Escaped backslashes are spelled otherwise and whole pairs set aside, so that only lone ones are replaced.
select case
    when contains(text, '\ud') or contains(text, '\uD') then regexp_replace(
        regexp_replace(
            regexp_replace(
                replace(text, '\\', '\u005c'),
                '\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})', '\\P\1\2', 'g'
            ),
            '\\u[dD][89a-fA-F][0-9a-fA-F]{2}', '\\ufffd', 'g'
        ),
        '\\P(.{4})(.{4})', '\\u\1\\u\2', 'g'
    )
    else text
end
