/** For a restore: unfinished pipelines start from the beginning, because their work so far is on another host. */
export const startPipelinesOver =
  "UPDATE deployments SET status = 'pending', stage = 'pending' WHERE status IN ('pending', 'building')"
