/**
 * The contract, row by row, by section. A row's test has the row as its name (`row` in row.ts); `npm run contract`
 * prints which rows have one.
 */
export const rows = {
  "Platform endpoints": [
    "GET /v1/health → 200 { status, version, timestamp, services: { database } }",
    "GET /v1/projects → 200 list of projects",
    "POST /v1/projects { name } → 201 { data: project }",
    "GET /v1/projects/:projectId → 200 project",
    "PATCH /v1/projects/:projectId { name } → 200 project",
    "DELETE /v1/projects/:projectId → 204; deletes all servers, deployments and API keys of the project",
    "GET /v1/servers → 200 list of servers of all projects of the user (session)",
    "GET /v1/servers → 200 list of servers of the key's project (API key)",
    "GET /v1/projects/:projectId/servers → 200 list of servers",
    "POST /v1/projects/:projectId/servers → 201 server",
    "GET /v1/servers/:serverId → 200 server",
    "PATCH /v1/servers/:serverId → 200 server",
    "DELETE /v1/servers/:serverId → 204; stops and permanently deletes the server with its deployments",
    "GET /v1/servers/:serverId/metrics → 200 { data: metrics }",
    "POST /v1/servers/:serverId/deploy { imageUri } → 201 { data: deployment } after the pipeline completes",
    "GET /v1/servers/:serverId/deployments → 200 deployments, newest first",
    "POST /v1/servers/:serverId/rollback { version } → 201 new deployment object",
    "GET /v1/servers/:serverId/logs → 200 { data: { items[], hasMore, cursor } }",
    "GET /v1/servers/:serverId/logs as an event stream",
    "GET /v1/servers/:serverId/env → 200 { data: [name, ...] } names only",
    "POST /v1/servers/:serverId/env { name, value } → 201 new or 200 updated; body { data: env var }",
    "PUT /v1/servers/:serverId/env/:name { value } → 201 new or 200 updated; env var object",
    "DELETE /v1/servers/:serverId/env/:name → 204",
    "GET /v1/billing → 200 { data: billing status }",
    "POST /v1/billing/subscribe { plan } → 201 { data: { url } }",
    "DELETE /v1/billing/subscribe → 204; cancels at period end",
    "PATCH /v1/billing/plan { plan } → 204",
    "GET /v1/projects/:id/keys → list of API keys",
    "POST /v1/projects/:id/keys → API key",
    "DELETE /v1/keys/:id deletes the API key",
    "POST /v1/auth/signup signs up",
    "POST /v1/auth/login logs in",
    "POST /v1/auth/logout logs out"
  ],
  "Platform pagination": [
    "limit is an integer from 1 to 100, default 20",
    "cursor is opaque; the meta of a list is { cursor, hasMore, total }",
    "meta appears only on list endpoints"
  ],
  "Create server body": [
    "name is required, max 255",
    "slug is optional, lowercase alphanumerics and hyphens, auto-generated if omitted",
    "region is ord, iad, lax, ams or syd, default ord",
    "cpu is shared-1x, shared-2x or performance-1x, default shared-1x",
    "memoryMb is 256, 512, 1024 or 2048, default 256",
    "autoStopSeconds is 60 to 86400, default 300"
  ],
  "Update server body": [
    "all fields are optional, at least one is required",
    "name, cpu, memoryMb, autoStopSeconds, rollbackOnHealthCheckFailure, deploymentRetentionCount can be changed",
    "deploymentRetentionCount is 1 to 100",
    "rollbackOnHealthCheckFailure is a boolean",
    "slug, region and authMode are not accepted",
    "authMode byoa has issuer, JWKS URI, authorization endpoint and token endpoint in byoaConfig"
  ],
  "Logs query": [
    "level is debug, info, warn or error",
    "search is a case-insensitive substring of the message",
    "limit of logs is 1 to 200, default 50",
    "before is the cursor of a previous response and returns older entries; newest first; hasMore ends it"
  ],
  "Platform resources": [
    "a project has id, name, slug, createdAt, updatedAt",
    "a project's slug is derived from its name",
    "a server has the contract's fields, with subdomain <slug>.{mcp_domain}",
    "a deployment has id, serverId, status, imageUri, version, trivyScanResult, errorMessage, createdAt, deployedAt",
    "a log entry has id, serverId, level, message, timestamp with milliseconds",
    "an environment variable has id, serverId, name, createdAt, updatedAt and never a value",
    "environment variable names are upper-case letters, digits and underscores and begin with a letter or underscore",
    "values of reserved environment names are accepted",
    "values of reserved environment names are ignored at deploy time; the platform's wins",
    "API keys begin with svc_live_ or svc_test_",
    "API keys have the seven scopes of the contract",
    "billing status has plan, status, current period, usage and limits",
    "server metrics are requestCount, errorCount, avgLatencyMs, p99LatencyMs",
    "timestamps are ISO 8601 UTC strings",
    "a server's status is provisioning, running, stopped, error or deleted"
  ],
  "Platform authentication": [
    "platform endpoints take an API key or a session as Bearer",
    "servers and projects need servers:read to read and servers:write to change",
    "deployments need deployments:read or deployments:write",
    "logs need logs:read or servers:read",
    "billing needs billing:read",
    "metrics need metrics:read",
    "a key that lacks the scope gets 403",
    "a missing or invalid credential gets 401"
  ],
  "Platform errors": [
    "failures are { error: { code, message, details? } } with an uppercase code",
    "400 Bad request",
    "401 Unauthenticated",
    "403 Forbidden (insufficient scope)",
    "404 Not found",
    "409 Conflict",
    "422 Unprocessable entity",
    "429 Rate limited"
  ],
  "Platform limits": [
    "free plan: 100 requests per minute",
    "developer plan: 1,000 requests per minute",
    "pro plan: 10,000 requests per minute",
    "every response has X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset (Unix seconds)",
    "servers: free 2, developer 10, pro 50, enterprise unlimited",
    "requests per month: free 10,000, developer 100,000, pro 1,000,000, enterprise unlimited",
    "regions: free ord only, others all",
    "auto-stop: free required, others optional",
    "deployments kept for rollback: free 3, others 10"
  ],
  "Hosted servers": [
    "each server is reachable at {slug}.{mcp_domain}",
    "a container listens on PORT, answers GET /healthz with 200 and JSON, and serves MCP at /sse and /message",
    "GET /.well-known/oauth-protected-resource → resource, authorization_servers, scopes, bearer methods (RFC 9728)",
    "a token for one server is not valid for another",
    "byoa passes a syntactically valid Bearer token on unchanged, and rejects others",
    "POST /api/v1/servers/:id/clients { clientMetadataUrl } pre-registers a client",
    "GET /api/v1/oauth/authorize takes S256 only",
    "POST /api/v1/oauth/token exchanges an authorization code"
  ],
  "Hub endpoints": [
    "POST /api/v1/hub/api-keys → 201 { data: { key, meta } }",
    "GET /api/v1/hub/api-keys → 200 { data: [meta, ...] }",
    "DELETE /api/v1/hub/api-keys/:id → 204",
    "GET /api/v1/hub/analytics/listings/:id → 200 { data: analytics }",
    "POST /api/v1/hub/listings/:id/capability-doc → 201 { capabilityDocUrl, format, parsed }",
    "GET /api/v1/hub/listings/:id/capability-doc → 200 { data: { capabilityDocUrl, format, parsed } }",
    "GET /api/v1/hub/listings/:id/skill.md → 200 Markdown",
    "GET /.well-known/mcp-skills → 200 { listings[], next_cursor? }",
    "GET /v1/hub/composites → composites computed now",
    "GET /v1/hub/composites/browse → public composites only",
    "composites: create, list own, update, delete, promote, SKILL.md",
    "POST, GET, DELETE /api/v1/hub/keys are deprecated aliases"
  ],
  "Directory and business endpoints": [
    "GET /v1/directory → 200 { data: [listing], meta }",
    "GET /v1/directory/:id → 200 { data: listing detail }",
    "PATCH /v1/directory/:id { visible } → 200",
    "GET /.well-known/mcp-server-metadata → 200 metadata object",
    "POST /api/v1/ready/businesses/{id}/import → 200 { data: preview }",
    "POST /api/v1/ready/businesses/{id}/import/{preview_id}/confirm → 200 { data }",
    "GET /api/v1/ready/businesses/:id/config → 200 { data: ReadyConfig }"
  ],
  Import: [
    "import preview: preview_id, source_format, record_count, field_mappings[], warnings[], expires_at in an hour",
    "import warnings are field_skipped, value_coerced, limit_truncated, format_error with message and context",
    "import JSON: version 1.0, business and catalog_items with the contract's fields and defaults",
    "import CSV: any subset of the columns, name required, unknown ones ignored, rows without a name skipped",
    "import templates are at /hub/templates/*.csv; those of restaurants and shops leave out price_type",
    "import confirm 1: a JSON business updates name, description, website, industry and the profile; CSV touches neither",
    "import confirm 2: categories match by name, missing ones are made in file order after those that are there",
    "import confirm 3: items are added after those that are there, in USD, available, in cents",
    "import confirm 4: a row in the audit log, and the preview is gone",
    "import upload: 401 unauthorized, and for an API key too",
    "import upload: 404 not_found, business missing or not owned",
    "import upload: 413 file_too_large over 10 MB",
    "import upload: 422 unsupported_format, another extension",
    "import upload: 422 validation_error for each fatal fault",
    "import confirm: 404 not_found, preview missing or confirmed already",
    "import confirm: 422 preview_expired after an hour",
    "import: 429 over 100 a minute by business and address"
  ],
  ReadyConfig: [
    "ReadyConfig: version 2.0, serverId, templateType",
    "ReadyConfig: business has name, description, category",
    "ReadyConfig: contact has phone, email, website, address (line1, city, state, zip, country), coordinates (lat, lng)",
    "ReadyConfig: hours by weekday or date, closed or { open, close } with HH:MM",
    "ReadyConfig: catalog is absent before the first sync; categories[] and items[] with the contract's fields",
    "ReadyConfig: featureFlags are five booleans",
    "ReadyConfig: integrations is there for the owner when it is set, absent otherwise",
    "ReadyConfig: analytics is enabled with an optional reportingEndpoint, or absent",
    "the same configuration is injected at deploy as SVC_READY_CONFIG",
    "business config is for a session, or an API key with servers:read; Cache-Control private, max-age=10",
    "business config: 400 bad_request, id missing or longer than 26 characters",
    "business config: 401 unauthorized, 403 forbidden without servers:read",
    "business config: 404 not_found, business missing or not owned",
    "business config: 404 config_not_generated"
  ]
} as const

export type Row = (typeof rows)[keyof typeof rows][number]
