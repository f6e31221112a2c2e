-- doc: Where the true share lies with 95 % confidence when hits of trials were seen: Wilson's interval, low to high.
-- grain: one row
-- params: hits, trials
-- The bounds are the two solutions p of (share - p)^2 = z^2 p (1 - p) / trials, where share = hits / trials and
-- z = 1.959963984540054:  (share + z^2/2n -+ sqrt(z^2/n (share (1 - share) + z^2/4n))) / (1 + z^2/n), n = trials.
-- Null where there are no trials, and where there are more hits than trials, which are no share of them.
select
    case when share = 0 then 0 else (middle - reach) / scale end as low,
    case when share = 1 then 1 else (middle + reach) / scale end as high
from (
    select share, share + z2 / 2 as middle, sqrt(z2 * (share * (1 - share) + z2 / 4)) as reach, 1 + z2 as scale
    from (
        select
            case when hits between 0 and trials then hits / nullif(trials, 0) end as share,
            1.959963984540054::double * 1.959963984540054::double / nullif(trials, 0) as z2
    )
)
