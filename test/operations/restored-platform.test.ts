import { Effect, Exit, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { appImage, missingForApps } from "../deployments/support/app-image.ts"
import { destroyMachines } from "../deployments/support/machines.ts"
import { mcpImage } from "../deployments/support/mcp-image.ts"
import { dataOf, type Listed, type Server } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { businesses } from "../support/business.ts"
import { emptyDatabaseUrl } from "../support/Database.ts"
import { describeLong } from "../support/needs.ts"
import { newFlow } from "../support/oauth.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { backupFile, bringBack, save, type Site } from "./support/backup.ts"

interface Publication {
  readonly serverId: string
  readonly listing: { readonly id: string }
}

const menu = { filename: "menu.csv", content: "name,price\nTomato Soup,6.50\n", name: "Copper Ladle" }

describeLong("an installation that was saved while it ran, restored with an empty home", () => {
  const scope = Effect.runSync(Scope.make())
  const homes = [temporaryDirectory("first"), temporaryDirectory("second")] as const
  const first = new Berth()
  const second = new Berth()
  afterAll(async () => {
    await second.stop()
    for (const home of homes) await Effect.runPromise(destroyMachines(home))
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const fill = async () => {
    const owner = await first.signUp("enterprise")
    const project = await owner.project()
    const server = await owner.server(project.id, { name: "Plain" })
    await owner.put(`/v1/servers/${server.id}/env/GREETING`, { value: "kept" })
    const imageUri = await Effect.runPromise(appImage("healthy"))
    expect((await owner.post(`/v1/servers/${server.id}/deploy`, { imageUri })).body).toMatchObject({
      data: { status: "running" }
    })
    const business = dataOf(
      await owner.post<{ data: Publication }>(`${businesses}/publish`, { ...menu, projectId: project.id })
    )
    const { accessToken } = dataOf(
      await owner.post<{ data: { accessToken: string } }>(`/v1/servers/${server.id}/test-token`, undefined)
    )
    const flow = await newFlow(first)
    return { owner, server, business, accessToken, key: await owner.key(project.id), flow, tokens: await flow.tokens() }
  }
  type Filled = Awaited<ReturnType<typeof fill>>
  let made: Filled

  /** What anybody sees of the directory, and its owner of everything. */
  const seen = async (berth: Berth) => {
    const get = async (path: string, token?: string) => (await berth.request("GET", path, { token })).body
    const { token } = made.owner
    return {
      all: await get("/v1/directory"),
      found: await get("/v1/directory?search=coper+ladle"),
      none: await get("/v1/directory?search=brasserie"),
      account: await get("/v1/auth/me", token),
      servers: (await get("/v1/servers", token) as Listed<Server>).meta.total,
      env: await get(`/v1/servers/${made.server.id}/env`, made.key.key),
      deployments: await get(`/v1/servers/${made.server.id}/deployments`, made.key.key),
      grants: await get("/v1/auth/grants", made.flow.user.token)
    }
  }
  let before: Awaited<ReturnType<typeof seen>>
  let saved: Site
  let file: string

  beforeAll(async () => {
    const variables = {
      SECRET_KEY: randomBytes(32).toString("base64"),
      READY_IMAGE: await Effect.runPromise(mcpImage("streamable"))
    }
    await first.start({ machines: true, variables: { ...variables, BERTH_HOME: homes[0] } })
    made = await fill()
    before = await seen(first)
    saved = { databaseUrl: first.databaseUrl, home: homes[0] }
    file = backupFile()
    await Effect.runPromise(save(saved, file, { images: true }))
    await first.stop()

    const databaseUrl = await Effect.runPromise(Scope.extend(emptyDatabaseUrl, scope))
    await Effect.runPromise(bringBack({ databaseUrl, home: homes[1] }, file))
    const { port } = new URL(first.url)
    await second.start({
      machines: true,
      databaseUrl,
      variables: { ...variables, BERTH_HOME: homes[1], PORT: port, BASE_URL: first.url }
    })
    second.url = first.url
  }, 120_000)

  it("serves again at once: its images were in the backup", async () => {
    const answers = () =>
      second.request("GET", `/s/${made.server.slug}/env`, { token: made.accessToken }).then(({ body, status }) => ({
        status,
        body
      }))
    await expect.poll(answers, { timeout: 20_000, interval: 100 }).toMatchObject({
      status: 200,
      body: { GREETING: "kept" }
    })
    expect(second.logged.filter((line) => /getting it again/.test(line))).toEqual([])
    // A collection rewrites the index of images by way of a file there, whose name begins with a dot.
    const blobs = (home: string) =>
      readdirSync(join(home, "images/blobs/sha256")).filter((name) => !name.startsWith(".")).sort()
    expect(blobs(homes[1])).toEqual(blobs(homes[0]))
    expect(existsSync(join(homes[1], "images/index.json"))).toBe(true)
  }, 60_000)

  it("knows its sessions, keys, secrets, deployments, grants and its directory, with the same counts", async () => {
    expect(await seen(second)).toEqual(before)
    expect(before.found).toMatchObject({ data: [{ businessName: "Copper Ladle" }] })
  })

  it("refreshes the tokens that it gave, and takes the old password", async () => {
    const { flow, owner, tokens } = made
    const refreshed = await second.request<{ access_token: string }>("POST", "/api/v1/oauth/token", {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: String(
        new URLSearchParams({
          grant_type: "refresh_token",
          client_id: flow.clientId,
          refresh_token: tokens.refresh_token ?? ""
        })
      )
    })
    expect(refreshed).toMatchObject({ status: 200, body: { access_token: expect.any(String) } })
    const { email, password } = owner
    expect((await second.request("POST", "/v1/auth/login", { body: { email, password } })).status).toBe(200)
  })

  it("follows what changes from there on", async () => {
    const { business, owner } = made
    const hidden = await second.request("PATCH", `/v1/directory/${business.listing.id}`, {
      token: owner.token,
      body: { visible: false }
    })
    expect(hidden.status).toBe(200)
    expect((await second.request("GET", "/v1/directory")).body).toMatchObject({ data: [], meta: { total: 0 } })
    expect((await second.request("GET", "/v1/directory?search=copper")).body).toMatchObject({ data: [] })
    expect(second.unexpected).toEqual([])
  })
}, missingForApps)
