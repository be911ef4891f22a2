import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { missingForApps } from "../deployments/support/app-image.ts"
import { mcpImage } from "../deployments/support/mcp-image.ts"
import { type Account, type Listed, signUp } from "../support/account.ts"
import { type Business, businesses } from "../support/business.ts"
import { freshDatabaseUrl } from "../support/Database.ts"
import { send } from "../support/http.ts"
import { describeLong } from "../support/needs.ts"
import { holdLock, runSql } from "../support/sql.ts"
import { build, clear, newPlace, type Place, run, sweep } from "./support/program.ts"

const file = { filename: "menu.csv", content: "name,price\nTomato Soup,6.50\n" }

/** Nothing gets as far as a deployment while the lock is held, but the one. */
const held = `
  CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (SELECT name FROM servers WHERE id = NEW.server_id) <> 'Deploying' THEN PERFORM pg_advisory_xact_lock(1); END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER held BEFORE INSERT ON deployments FOR EACH ROW EXECUTE FUNCTION held()`

describeLong("a platform that is killed while it publishes", () => {
  const scope = Effect.runSync(Scope.make())
  let place: Place
  let databaseUrl: string
  let image: string
  beforeAll(async () => {
    place = await newPlace()
    await build(place)
    databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope))
    image = await Effect.runPromise(mcpImage("streamable", [], ["SLOW=2"]))
  }, 120_000)
  afterAll(async () => {
    sweep(place)
    clear(place)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const start = async () => {
    const variables = { DATABASE_URL: databaseUrl, READY_IMAGE: image, TRUST_PROXY: "1" }
    const program = run(place, ["node", "dist/berth.js", "serve", "--no-demo"], variables)
    await program.printed(/Berth is ready/)
    return program
  }
  const request: Account["berth"]["request"] = (method, path, sent) =>
    send(`http://127.0.0.1:${place.port}`, method, path, sent)

  const made = async (owner: Account) => {
    const { data } = (await owner.get<Listed<Business>>(businesses)).body
    return Object.fromEntries(data.map((business) => [business.name, business]))
  }
  const begin = async (owner: Account, name: string) => {
    void owner.post(`${businesses}/publish`, { ...file, name }).catch(() => undefined)
    await expect.poll(async () => Object.keys(await made(owner)), { timeout: 10_000, interval: 50 }).toContain(name)
  }
  const deployments = async (owner: Account, business: Business | undefined) =>
    (await owner.get<Listed<{ status: string }>>(`/v1/servers/${business?.serverId}/deployments`)).body.data
      .map(({ status }) => status)
  const listed = async (business: Business | undefined) =>
    (await request("GET", `/v1/directory/${business?.listingId}`)).status
  const unfinished = () => runSql(databaseUrl, "SELECT * FROM publications")

  it("finishes what it began, once, and leaves hidden what its owner hid", async () => {
    let program = await start()
    const owner = await signUp({ databaseUrl, request }, "enterprise")
    await runSql(databaseUrl, held)
    const release = await holdLock(databaseUrl, "SELECT pg_advisory_xact_lock(1)", [])
    for (const name of ["Not deployed", "Hidden", "Long ago"]) await begin(owner, name)
    const before = await made(owner)
    await owner.patch(`/v1/directory/${before["Hidden"]?.listingId}`, { visible: false })
    await begin(owner, "Deploying")
    await expect.poll(async () => deployments(owner, (await made(owner))["Deploying"]), { timeout: 10_000 })
      .toEqual(["building"])
    await program.end("SIGKILL")
    await release()
    await runSql(
      databaseUrl,
      "UPDATE publications SET created_at = now() - interval '25 hours' WHERE listing_id = $1",
      [
        before["Long ago"]?.listingId
      ]
    )
    expect(await runSql(databaseUrl, "SELECT status FROM deployments")).toEqual([{ status: "building" }])
    expect(await runSql(databaseUrl, "SELECT DISTINCT status FROM listings")).toEqual([{ status: "pending" }])

    program = await start()
    await expect.poll(unfinished, { timeout: 20_000, interval: 200 }).toEqual([])
    const after = await made(owner)
    expect(Object.keys(after).sort()).toEqual(["Deploying", "Hidden", "Long ago", "Not deployed"])
    expect((await owner.get<Listed<unknown>>("/v1/servers")).body.meta.total).toBe(4)
    const seen = await Promise.all(
      Object.entries(after).map(async ([name, business]) =>
        [name, { deployments: await deployments(owner, business), listed: await listed(business) }] as const
      )
    )
    expect(Object.fromEntries(seen)).toEqual({
      "Deploying": { deployments: ["running"], listed: 200 },
      "Not deployed": { deployments: ["running"], listed: 200 },
      "Hidden": { deployments: ["running"], listed: 404 },
      "Long ago": { deployments: [], listed: 404 }
    })
    expect(await program.end("SIGTERM")).toEqual({ code: 0, signal: null })
  }, 60_000)
}, missingForApps)
