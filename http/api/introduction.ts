/** What the document says before its operations; test/http/examples.test.ts runs its commands. */
export const introduction = `Berth hosts MCP servers, and gives AI agents a hub and a business directory to find them.
Each operation below has an MCP tool that does the same by the same rules (connect a client to \`/mcp\`), apart from
sign-up, log-in, log-out, health and the MCP registry.

## Log in, and get a key

Reading the directory, the plans, the registry and this document takes no credential. Everything else takes
\`Authorization: Bearer\` with one of these:

- a session token (\`svc_sess_…\`) of a user: all of the account, for 30 days
- an API key (\`svc_live_…\`, \`svc_test_…\`): one project, with the scopes that it was made with
- a hub key (\`hub_live_…\`), for agents that search the directory and composites: \`POST /api/v1/hub/api-keys\`

\`\`\`sh
BERTH=https://berth.example.com
# With an account: the same with /v1/auth/login.
SESSION=$(curl -s $BERTH/v1/auth/signup -H 'Content-Type: application/json' \\
  -d '{"email": "you@example.com", "password": "a long passphrase"}' | jq -r .data.token)
PROJECT=$(curl -s $BERTH/v1/projects -H "Authorization: Bearer $SESSION" -H 'Content-Type: application/json' \\
  -d '{"name": "Copper Ladle"}' | jq -r .data.id)
# A key is shown once: keep it.
KEY=$(curl -s $BERTH/v1/projects/$PROJECT/keys -H "Authorization: Bearer $SESSION" -H 'Content-Type: application/json' \\
  -d '{"name": "CI", "scopes": ["servers:read", "deployments:write"]}' | jq -r .data.key)
curl -s "$BERTH/v1/servers?limit=20" -H "Authorization: Bearer $KEY"
\`\`\`

A browser may use the session cookie instead; its writes then need an \`Origin\` of the platform itself.

## Answers and failures

A success is \`{"data": …}\`. A failure is \`{"error": {"code", "message", "details"?}}\`: \`message\` says what to do,
\`code\` is for programs (upper case below \`/v1\`, lower case below \`/api/v1\`, \`/v1/hub\` and \`/v1/directory\`).

- 400: no valid JSON, or a query that does not fit. 422: the body does not fit, and \`details.issues[]\` has
  \`{path, message}\` for each fault. Fields and parameters that an operation does not know are faults, too.
- 401: no valid credential. 403: it lacks a scope, or the plan's limit is reached (\`PLAN_LIMIT_REACHED\` says which, and
  which plan would do).
- 404: it does not exist, or is not yours.
- 409: it does not fit what is there. 503: not possible for now.

\`X-Request-Id\` names the answer, for questions to the operator. A POST with an \`Idempotency-Key\` is done once: sent
again within 24 hours, it gets the same answer.

## Paging

Lists have \`meta: {cursor, hasMore, total}\`. \`?limit=\` takes 1 to 100; while \`hasMore\` is true, ask again with
\`?cursor=\` and the cursor of the answer.

## Rate limits

\`X-RateLimit-Limit\`, \`-Remaining\` and \`-Reset\` (Unix seconds) are on each answer. An account has its plan's requests a
minute (\`GET /v1/plans\`), for all of its credentials together; without a credential an address has 100 a minute. Over it,
the answer is 429 and \`Retry-After\` says in how many seconds to come again.
`
