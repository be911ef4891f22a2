import { type Examples } from "./Example.ts"
import { at, deployment, digest, ids, page, server } from "./things.ts"

const byoaConfig = {
  issuer: "https://id.example.com",
  jwksUri: "https://id.example.com/jwks",
  authorizationEndpoint: "https://id.example.com/authorize",
  tokenEndpoint: "https://id.example.com/token"
}
const figures = { requestCount: 1204, errorCount: 3, avgLatencyMs: 18.4, p99LatencyMs: 96 }
const callFigures = { calls: 812, errors: 2, avgLatencyMs: 21.5, p99LatencyMs: 104 }
const variable = {
  id: "env_01KF3VK0M1N2P3Q4R5S6T7V8W9",
  serverId: ids.serverId,
  name: "MENU_URL",
  ...at
}
const pending = {
  ...deployment,
  status: "pending",
  active: false,
  imageDigest: null,
  trivyScanResult: null,
  admittedBy: null,
  deployedAt: null,
  mcp: null
}
// A list has the number of tools, not the tools.
const { tools: _, ...handshake } = deployment.mcp!
const registry = {
  id: ids.registryId,
  host: "registry.example.com:5000",
  name: "menu-robot",
  username: "reader",
  ...at
}

export const serverExamples: Examples = {
  "servers.list": { answer: page(server) },
  "servers.listOf": { answer: page(server) },
  "servers.create": {
    body: {
      name: "Menu",
      region: "ord",
      cpu: "shared-1x",
      memoryMb: 256,
      autoStopSeconds: 300,
      healthPath: "/healthz",
      healthTimeoutSeconds: 30,
      requireMcp: null,
      egress: { allow: ["api.example.com", "*.example.com:8443"] },
      guestRequestsPerMinute: 60,
      guestMonthPercent: 10,
      registryCredential: null
    },
    answer: { data: { ...server, status: "provisioning" } }
  },
  "servers.get": { answer: { data: server } },
  "servers.update": { body: { name: "Menu" }, answer: { data: server } },
  "servers.remove": {},
  "servers.configureAuth": {
    body: { authMode: "byoa", byoaConfig, access: "list", allowedEmails: ["a@example.com"] },
    answer: {
      data: {
        ...server,
        authMode: "byoa",
        byoaConfig,
        access: "list",
        allowedEmails: ["a@example.com"],
        notice:
          "Only those of allowedEmails may pass whose accounts the operator of this platform has verified, and you"
      }
    }
  },
  "servers.logs": {
    answer: {
      data: {
        items: [{
          id: "log_01KF3VM3N4P5Q6R7S8T9V0W1X2",
          serverId: ids.serverId,
          level: "info",
          message: "Deployment 1: finding the image ghcr.io/copper-ladle/menu:1.2.0",
          timestamp: at.createdAt
        }],
        hasMore: false,
        cursor: null
      }
    }
  },
  "servers.metrics": { answer: { data: figures } },
  "servers.metricsSeries": {
    answer: { data: { stepSeconds: 3600, items: [{ startsAt: at.createdAt, ...figures }] } }
  },
  "servers.metricsTools": {
    answer: {
      data: {
        items: [{
          tool: "get_menu",
          ...callFigures,
          clients: [{ name: "some-agent", calls: 700 }],
          otherClients: 112
        }],
        other: null
      }
    }
  },
  "environment.names": { answer: { data: [variable.name] } },
  "environment.set": {
    body: { name: variable.name, value: "https://copper-ladle.example.com/menu" },
    answer: { data: variable }
  },
  "environment.put": { body: { value: "https://copper-ladle.example.com/menu" }, answer: { data: variable } },
  "environment.remove": {},
  "deployments.deploy": {
    body: { imageUri: deployment.imageUri, wait: true },
    answer: { data: deployment },
    others: { 202: { data: pending } }
  },
  "deployments.rollback": {
    body: { version: 1 },
    answer: { data: { ...deployment, version: 3, type: "rollback" } },
    others: { 202: { data: { ...pending, version: 3, type: "rollback" } } }
  },
  "deployments.list": { answer: page({ ...deployment, mcp: handshake }) },
  "deployments.get": { answer: { data: deployment } },
  "deployments.cancel": {
    answer: { data: { ...pending, status: "failed", errorMessage: "cancelled" } }
  },
  "deployments.vulnerabilities": {
    answer: {
      data: [{
        id: "CVE-2026-10001",
        aliases: ["GHSA-aaaa-bbbb-cccc"],
        package: "openssl",
        version: "3.0.15",
        fixedVersion: "3.0.17",
        severity: "high",
        title: "A crafted certificate ends the process",
        url: "https://cve.example.com/CVE-2026-10001"
      }],
      meta: { cursor: null, hasMore: false, total: 1, scanned: true }
    }
  },
  "deployments.start": { answer: { data: server } },
  "deployments.stop": { answer: { data: { ...server, status: "stopped" } } },
  "deployments.restart": { answer: { data: server } },
  "deployments.createTestToken": {
    answer: { data: { accessToken: "TheTokenForThisServer", expiresAt: "2026-06-01T10:00:00.000Z" } }
  },
  "registries.list": { answer: page(registry) },
  "registries.create": {
    body: { host: registry.host, name: registry.name, username: "reader", password: "let me in" },
    answer: { data: registry }
  },
  "registries.update": { body: { password: "let me in again" }, answer: { data: registry } },
  "registries.remove": {},
  "images.list": {
    answer: page({
      repository: "menu",
      digest,
      tags: ["1.2.0"],
      mediaType: "application/vnd.oci.image.index.v1+json",
      sizeBytes: 41_203_712,
      imageUri: `berth.example.com/copper-ladle/menu@${digest}`,
      pushedAt: at.createdAt
    })
  },
  "images.remove": {},
  "clients.register": {
    body: { clientMetadataUrl: "https://agent.example.com/client.json" },
    answer: {
      data: {
        clientId: "https://agent.example.com/client.json",
        clientName: "Some Agent",
        redirectUris: ["https://agent.example.com/callback"],
        registeredAt: at.createdAt,
        lastFetchedAt: at.createdAt
      }
    }
  }
}
