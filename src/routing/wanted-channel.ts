/** PostgreSQL's channel on which gateways ask the host for servers that sleep, by their ids. */
export const wantedChannel = "server_wanted"
