-- The score once more, from the raw operations alone and in exact decimal arithmetic:
-- every operation that was due in [from, to) is worth 1, one half or 0.
WITH scored AS (
    SELECT r.operation, t.priority,
           CASE WHEN NOT r.answered                         THEN 0
                WHEN r.done_ns - r.due_ns <     t.target_ns THEN 1
                WHEN r.done_ns - r.due_ns < 4 * t.target_ns THEN 0.5
                ELSE 0 END AS worth
      FROM recount_raw AS r
      JOIN recount_target AS t USING (operation)
     WHERE r.due_ns >= $1 AND r.due_ns < $2
)
SELECT coalesce(operation, '') AS operation,
       count(*) FILTER (WHERE worth = 1),
       count(*) FILTER (WHERE worth = 0.5),
       count(*) FILTER (WHERE worth = 0),
       coalesce(avg(worth), 0)::float8,
       coalesce(sum(worth / priority) / sum(1::numeric / priority), 0)::float8
  FROM scored
 GROUP BY ROLLUP (operation)
 ORDER BY 1
