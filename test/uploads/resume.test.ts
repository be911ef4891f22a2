import { randomBytes } from "node:crypto"
import { readdirSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Killable } from "../deployments/support/killable.ts"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { digestOf, RegistryClient, refusal, repository } from "./support/client.ts"

const MB = 1024 * 1024

/** Sends so many bytes of a chunk that is longer, and then nothing. */
const half = (base: string, token: string, path: string, bytes: Uint8Array, length: number) => {
  const { hostname, port } = new URL(base)
  const outgoing = request({
    agent: false,
    host: hostname,
    port,
    method: "PATCH",
    path,
    headers: {
      authorization: `Bearer ${token}`,
      "content-length": String(length),
      "x-forwarded-for": "198.18.9.9"
    }
  })
  outgoing.on("error", () => undefined)
  outgoing.write(bytes)
  return outgoing
}

/** How many bytes have arrived, once there are some. */
const arrived = async (client: RegistryClient, location: string) => {
  for (let tries = 0; tries < 200; tries++) {
    const range = (await client.ask("GET", location)).headers.get("range")
    if (range !== "0-0") {
      const size = Number(range?.split("-")[1]) + 1
      await setTimeout(100)
      if ((await client.ask("GET", location)).headers.get("range") === `0-${size - 1}`) return size
    }
    await setTimeout(20)
  }
  throw new Error("nothing arrived")
}

describe("a push that was cut off", () => {
  const berth = useBerth()
  let owner: Account
  let client: RegistryClient

  beforeAll(async () => {
    owner = await berth.signUp()
    client = await repository(owner)
  })

  it("goes on where it stopped", async () => {
    const content = randomBytes(3 * MB)
    const location = await client.begin()
    const cut = half(berth.url, owner.token, location, content.subarray(0, MB), content.length)
    await arrived(client, location)
    cut.destroy()
    const size = await arrived(client, location)
    expect(size).toBeGreaterThan(0)
    expect(refusal(await client.chunk(location, content, 0))).toEqual([416, "RANGE_INVALID"])
    expect((await client.chunk(location, content.subarray(size), size)).status).toBe(202)
    expect((await client.end(location, digestOf(content))).status).toBe(201)
  })

  it("whose end nobody noticed gives way to who goes on", async () => {
    const content = randomBytes(2 * MB)
    const location = await client.begin()
    const silent = half(berth.url, owner.token, location, content.subarray(0, MB), content.length)
    const size = await arrived(client, location)
    expect((await client.chunk(location, content.subarray(size), size)).status).toBe(202)
    expect((await client.end(location, digestOf(content))).status).toBe(201)
    silent.destroy()
  })

  it("is forgotten after a day, with its file", async () => {
    const location = await client.begin()
    await client.chunk(location, randomBytes(1000))
    const [{ id }] = await runSql(berth.databaseUrl, "SELECT id FROM unfinished_uploads") as [{ id: string }]
    expect(location.endsWith(id)).toBe(true)
    await runSql(berth.databaseUrl, "UPDATE unfinished_uploads SET written_at = now() - interval '25 hours'")
    berth.hurry(3_600_000)
    for (let tries = 0; (await client.ask("GET", location)).status !== 404; tries++) {
      expect(tries).toBeLessThan(100)
      await setTimeout(50)
    }
  })

  it("sent twice at once becomes one blob", async () => {
    const content = randomBytes(MB)
    const ended = await Promise.all(Array.from({ length: 6 }, () => client.blob(content)))
    expect(ended.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 201))
    expect((await client.ask("GET", `blobs/${digestOf(content)}`)).headers.get("content-length"))
      .toBe(String(content.length))
  })
})

describeLong("a push while the platform is killed", () => {
  const berth = new Killable()
  afterAll(berth.clear)

  it("goes on after the next start", async () => {
    await berth.start()
    const owner = await berth.signUp()
    const client = await repository(owner)
    const content = randomBytes(8 * MB)
    const location = await client.begin()
    for (const share of [0.2, 0.6]) {
      const from = (await client.ask("GET", location)).headers.get("range") === "0-0" ? 0 : await arrived(client, location)
      const cut = half(
        berth.url,
        owner.token,
        location,
        content.subarray(from, Math.floor(content.length * share)),
        content.length - from
      )
      await arrived(client, location)
      await berth.kill()
      cut.destroy()
      await berth.start()
    }
    const size = await arrived(client, location)
    expect(size).toBeGreaterThan(MB)
    expect((await client.chunk(location, content.subarray(size), size)).status).toBe(202)
    expect((await client.end(location, digestOf(content))).status).toBe(201)
    expect(await client.has(digestOf(content))).toBe(true)
    expect(readdirSync(join(berth.home, "images", "uploads"))).toEqual([])
  }, 120_000)
})
