import { setTimeout } from "node:timers/promises"
import { afterAll, beforeAll, expect, it } from "vitest"
import { dataOf } from "../support/account.ts"
import { send } from "../support/http.ts"
import { describeLong } from "../support/needs.ts"
import { build, clear, newPlace, type Place, serve, sweep } from "./support/program.ts"

const missing = process.platform === "linux" ? undefined : "machines run on Linux only"
const businesses = "/api/v1/ready/businesses"
const items = 1000

const menu = ["name,price,category", ...Array.from({ length: items }, (_, at) => `Dish ${at},${at}.50,Kind ${at % 9}`)]

describeLong("a platform that is killed in a confirm", () => {
  let place: Place
  beforeAll(async () => {
    place = await newPlace()
    await build(place)
  }, 120_000)
  afterAll(() => {
    sweep(place)
    clear(place)
  })

  const start = async () => {
    const program = serve(place, "--no-demo")
    await program.printed(/Berth is ready/)
    return { program, base: program.url.replace("localhost", "127.0.0.1") }
  }

  it("has written all of the import or nothing, and what is not written can be confirmed again", async () => {
    let { base, program } = await start()
    const account = { email: "owner@example.com", password: "correct horse battery" }
    const { token } = dataOf(
      await send<{ data: { token: string } }>(base, "POST", "/v1/auth/signup", { body: account })
    )
    const request = <Body>(method: string, path: string, body?: unknown) =>
      send<Body>(base, method, path, { token, ...(body === undefined ? {} : { body }) })
    type Made = { readonly data: { readonly id: string } }
    const { id: projectId } = dataOf(await request<Made>("POST", "/v1/projects", { name: "Kill" }))

    for (const wait of [5, 20, 40, 80]) {
      const { id } = dataOf(await request<Made>("POST", businesses, { projectId, name: `After ${wait}` }))
      const form = new FormData()
      form.append("file", new Blob([menu.join("\n")], { type: "text/csv" }), "menu.csv")
      const headers = { authorization: `Bearer ${token}` }
      const uploaded = await fetch(`${base}${businesses}/${id}/import`, { method: "POST", headers, body: form })
      const { data } = await uploaded.json() as { readonly data: { readonly preview_id: string } }
      const confirm = () => request("POST", `${businesses}/${id}/import/${data.preview_id}/confirm`)
      const cut = confirm().catch(() => undefined)
      await setTimeout(wait)
      await program.end("SIGKILL")
      await cut
      ;({ base, program } = await start())
      const count = async () => {
        const catalog = await request<{ data: { items: ReadonlyArray<unknown>; categories: ReadonlyArray<unknown> } }>(
          "GET",
          `${businesses}/${id}/catalog`
        )
        return [catalog.body.data.items.length, catalog.body.data.categories.length]
      }
      const found = await count()
      expect([[0, 0], [items, 9]]).toContainEqual(found)
      expect((await confirm()).status).toBe(found[0] === 0 ? 200 : 404)
      expect(await count()).toEqual([items, 9])
    }
    expect(await program.end("SIGTERM")).toEqual({ code: 0, signal: null })
  }, 180_000)
}, missing)
