import { type Examples } from "./Example.ts"
import { at, base, ids, page, project, session } from "./things.ts"

const email = "somebody@example.com"
const password = "correct horse battery"
const user = { id: ids.userId, email, name: "Somebody", createdAt: at.createdAt }
const signedIn = { data: { user, token: session, expiresAt: "2026-07-01T09:00:00.000Z" } }

const key = {
  id: ids.keyId,
  projectId: ids.projectId,
  name: "CI",
  environment: "live",
  keyPrefix: "svc_live_YourApi",
  scopes: ["servers:read", "deployments:write"],
  createdAt: at.createdAt,
  lastUsedAt: null,
  expiresAt: null,
  grantId: null
}

const grant = {
  id: ids.grantId,
  clientId: "https://agent.example.com/client.json",
  clientName: "Some Agent",
  resource: `${base}/mcp`,
  serverId: null,
  serverName: null,
  scopes: ["servers:read"],
  ...at
}

export const accountExamples: Examples = {
  "health.health": {
    answer: {
      status: "ok",
      version: "0.1.0",
      timestamp: at.updatedAt,
      services: { database: "up" },
      compute: {
        driver: "sandbox",
        tier: "util-linux",
        enforces: ["own mounts, processes, IPC and host name", "no capabilities", "seccomp"],
        lacks: []
      },
      scanner: { driver: "none", refuses: null }
    }
  },
  "accounts.signUp": { body: { email, password, name: "Somebody" }, answer: signedIn },
  "accounts.logIn": { body: { email, password }, answer: signedIn },
  "accounts.logOut": {},
  "accounts.me": {
    answer: {
      data: {
        user: { ...user, emailVerifiedAt: null },
        plan: "developer",
        credential: { type: "session", expiresAt: signedIn.data.expiresAt }
      }
    }
  },
  "projects.list": { answer: page(project) },
  "projects.create": { body: { name: "Copper Ladle" }, answer: { data: project } },
  "projects.get": { answer: { data: project } },
  "projects.update": { body: { name: "Copper Ladle" }, answer: { data: project } },
  "projects.remove": {},
  "projects.listKeys": { answer: page(key) },
  "projects.createKey": {
    body: { name: "CI", environment: "live", scopes: key.scopes },
    answer: { data: { key: "svc_live_YourApiKey", ...key } }
  },
  "projects.removeKey": {},
  "grants.list": { answer: page(grant) },
  "grants.revoke": {},
  "grants.renew": { answer: { data: grant } }
}
