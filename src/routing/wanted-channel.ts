/** PostgreSQL's channel on which gateways ask the host for servers, by their ids: they sleep, or their machine is not reached. */
export const wantedChannel = "server_wanted"
