import { describe, expect } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { row } from "./row.ts"
import { timestamp } from "./shapes.ts"

const berth = useBerth()

describe("health", () => {
  row("GET /v1/health → 200 { status, version, timestamp, services: { database } }", async () => {
    const answer = await berth.request("GET", "/v1/health")
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      status: "ok",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      timestamp,
      services: { database: "up" }
    })
  })
})
