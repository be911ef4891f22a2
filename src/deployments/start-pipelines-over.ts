/** For a restore: a pipeline that was under way starts from its beginning, for what it had done was another host's. */
export const startPipelinesOver =
  "UPDATE deployments SET status = 'pending', stage = 'pending' WHERE status IN ('pending', 'building')"
