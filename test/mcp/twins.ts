/** The tool that does what each HTTP operation does. */
export const twins: Readonly<Record<string, string>> = {
  "GET /v1/projects": "list_projects",
  "POST /v1/projects": "create_project",
  "GET /v1/projects/{projectId}": "get_project",
  "PATCH /v1/projects/{projectId}": "update_project",
  "DELETE /v1/projects/{projectId}": "delete_project",
  "GET /v1/projects/{projectId}/keys": "list_api_keys",
  "POST /v1/projects/{projectId}/keys": "create_api_key",
  "DELETE /v1/keys/{keyId}": "delete_api_key",
  // The two lists are one tool: of a project when projectId is given.
  "GET /v1/servers": "list_servers",
  "GET /v1/projects/{projectId}/servers": "list_servers",
  "POST /v1/projects/{projectId}/servers": "create_server",
  "GET /v1/servers/{serverId}": "get_server",
  "PATCH /v1/servers/{serverId}": "update_server",
  "DELETE /v1/servers/{serverId}": "delete_server",
  "PUT /v1/servers/{serverId}/auth": "configure_server_auth",
  "GET /v1/servers/{serverId}/logs": "get_logs",
  "GET /v1/servers/{serverId}/env": "list_env",
  // Two ways to say one thing.
  "POST /v1/servers/{serverId}/env": "set_env",
  "PUT /v1/servers/{serverId}/env/{name}": "set_env",
  "DELETE /v1/servers/{serverId}/env/{name}": "delete_env",
  "POST /v1/servers/{serverId}/deploy": "deploy",
  "GET /v1/servers/{serverId}/deployments": "list_deployments",
  "POST /v1/servers/{serverId}/rollback": "rollback",
  "POST /v1/servers/{serverId}/start": "start_server",
  "POST /v1/servers/{serverId}/stop": "stop_server",
  "POST /v1/servers/{serverId}/restart": "restart_server",
  "POST /v1/servers/{serverId}/test-token": "create_test_token",
  "POST /api/v1/servers/{serverId}/clients": "register_client",
  "GET /v1/auth/grants": "list_grants",
  "DELETE /v1/auth/grants/{grantId}": "revoke_grant",
  "GET /v1/billing": "get_billing",
  "GET /api/v1/ready/businesses": "list_businesses",
  "POST /api/v1/ready/businesses": "create_business",
  "GET /api/v1/ready/businesses/{businessId}": "get_business",
  "PATCH /api/v1/ready/businesses/{businessId}": "update_business",
  "DELETE /api/v1/ready/businesses/{businessId}": "delete_business",
  "PATCH /api/v1/ready/businesses/{businessId}/listing": "update_listing",
  "POST /api/v1/ready/businesses/{businessId}/verification/phone": "verify_phone",
  "POST /api/v1/ready/businesses/{businessId}/verification/phone/confirm": "confirm_phone",
  "POST /api/v1/ready/businesses/{businessId}/verification/review": "request_review",
  "PATCH /v1/directory/{listingId}": "set_visibility"
}

/** What has no tool, and why. */
export const withoutTool: Readonly<Record<string, string>> = {
  "POST /v1/auth/signup": "needs no credential, and MCP does",
  "POST /v1/auth/login": "needs no credential, and MCP does",
  "POST /v1/auth/logout": "would end the credential of the connection",
  "GET /v1/auth/me": "about the credential, which the client holds",
  "GET /v1/health": "for probes",
  "GET /v1/servers/{serverId}/deployments/{deploymentId}": "where a 202 points to; the tool deploy waits instead"
}
