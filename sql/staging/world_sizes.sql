-- one row per log that tells how many accelerators its processes used, at most
-- do not sum: logs of one job tell the same
select log_no, max(gpus) as gpus
from staging.launch_sizes
group by log_no
