import { beforeAll, describe, expect, it } from "vitest"
import { failure, invalid } from "../contract/shapes.ts"
import { type Account, dataOf, type Listed } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { runSql } from "../support/sql.ts"

interface Registry {
  readonly id: string
  readonly host: string
  readonly name: string
  readonly username: string
}

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp()
})

const path = "/v1/registries"
const login = { username: "reader", password: "pass-w0rd-1" }
const add = (host: string, more: object = {}, account = owner) =>
  account.post<{ data: Registry }>(path, { host, ...login, ...more })

describe("credentials for registries", () => {
  it("are told without the password, which lies sealed in the database", async () => {
    const made = await add("Registry.Example.com:5000")
    expect([made.status, made.body]).toEqual([201, {
      data: {
        id: expect.stringMatching(/^reg_/),
        host: "registry.example.com:5000",
        name: "registry.example.com:5000",
        username: "reader",
        createdAt: expect.any(String),
        updatedAt: expect.any(String)
      }
    }])
    const list = await owner.get<Listed<Registry>>(path)
    expect(list.body).toEqual({ data: [made.body.data], meta: { cursor: null, hasMore: false, total: 1 } })
    const change = await owner.patch<{ data: Registry }>(`${path}/${made.body.data.id}`, { username: "other" })
    expect([change.status, change.body.data.username]).toEqual([200, "other"])
    await owner.patch(`${path}/${made.body.data.id}`, { password: "pass-w0rd-2" })
    const rows = JSON.stringify(await runSql(berth.databaseUrl, "SELECT * FROM image_registries"))
    expect(rows).toMatch(/"v1\./)
    for (const text of [made.text, list.text, change.text, rows, ...berth.logged]) {
      expect(text).not.toContain("pass-w0rd")
    }
    expect((await owner.delete(`${path}/${made.body.data.id}`)).status).toBe(204)
    expect((await owner.delete(`${path}/${made.body.data.id}`)).body).toEqual(failure("NOT_FOUND"))
  })

  it("without a name are one for each host, by whichever of its names, also of two creates at once", async () => {
    const both = await Promise.all([add("ghcr.io"), add("GHCR.io")])
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
    expect(dataOf(await add("docker.io")).host).toBe("registry-1.docker.io")
    for (const name of ["index.docker.io", "registry-1.docker.io"]) {
      const second = await add(name)
      expect([second.status, second.body]).toEqual([409, failure("CONFLICT")])
      expect(second.text).toContain("update_registry")
    }
    expect((await add("ghcr.io", {}, await berth.signUp())).status).toBe(201)
  })

  it("are refused with the field that is wrong", async () => {
    const hosts = ["", "ghcr", "https://ghcr.io", "ghcr.io/acme", "u@ghcr.io", "ghcr.io:0", "ghcr.io:99999", "a b.io"]
    for (
      const host of [...hosts, "ghcr.io\u0000", "-a.io", "ghcr.io\r\nx: y", "é.example", "a.".repeat(200), 1, null]
    ) {
      const refused = await owner.post(path, { ...login, host })
      expect([host, refused.status, refused.body]).toEqual([host, 422, invalid("host")])
    }
    for (const username of ["", " ", "a:b", "a\nb", "\u0000", "x".repeat(256), null]) {
      expect((await add("a.example", { username })).body).toEqual(invalid("username"))
    }
    for (const name of ["", "A", "a b", "-a", "a.example", "localhost", "b:1", "x".repeat(64), 1, null]) {
      expect((await add("a.example", { name })).body).toEqual(invalid("name"))
    }
    for (const password of ["", "\u0000", "\ud800", "x".repeat(16_385), 1, null]) {
      expect((await add("a.example", { password })).body).toEqual(invalid("password"))
    }
    expect((await owner.post(path, { host: "a.example", username: "u" })).body).toEqual(invalid("password"))
    expect((await add("a.example", { registry: "x" })).body).toEqual(invalid("registry"))
    const { id } = dataOf(await add("quay.io", { password: "{\n\"a key\": \"file\"\n}".padEnd(16_384, "x") }))
    expect((await owner.patch(`${path}/${id}`, { host: "other.example" })).body).toEqual(invalid("host"))
    expect((await owner.patch(`${path}/${id}`, { password: "" })).body).toEqual(invalid("password"))
    expect((await owner.patch(`${path}/${id}`, { name: "other" })).body).toEqual(invalid("name"))
    expect((await owner.patch(`${path}/${id}`, {})).body).toEqual(invalid(""))
  })

  it("are nobody else's, and no key's", async () => {
    const { id } = dataOf(await add("private.example"))
    const stranger = await berth.signUp()
    const wrong = ["reg_", "x", `${id}0`, "%00", id.replace("reg_", "key_")]
    for (const [account, ids] of [[stranger, [id]], [owner, wrong]] as const) {
      for (const one of ids) {
        const update = await account.patch(`${path}/${one}`, login)
        expect([one, update.status]).toEqual([one, 404])
        expect((await account.delete(`${path}/${one}`)).status).toBe(404)
      }
    }
    expect((await stranger.get<Listed<Registry>>(path)).body.data).toEqual([])
    const key = await owner.holder((await owner.project()).id)
    for (const answer of [await key.get(path), await key.post(path, { host: "k.example", ...login })]) {
      expect([answer.status, answer.body]).toEqual([401, failure("UNAUTHORIZED")])
    }
    for (const answer of [await key.patch(`${path}/${id}`, login), await key.delete(`${path}/${id}`)]) {
      expect(answer.status).toBe(401)
    }
  })

  it("are at most fifty, also when the last two come at once, and are listed page by page", async () => {
    const account = await berth.signUp()
    for (let at = 0; at < 49; at++) expect((await add(`r${at}.example`, {}, account)).status).toBe(201)
    const last = await Promise.all([add("a.example", {}, account), add("b.example", {}, account)])
    expect(last.map(({ status }) => status).sort()).toEqual([201, 409])
    expect(last.find(({ status }) => status === 409)?.text).toContain("at most 50 credentials")
    const first = (await account.get<Listed<Registry>>(`${path}?limit=30`)).body
    const rest = (await account.get<Listed<Registry>>(`${path}?limit=30&cursor=${first.meta.cursor}`)).body
    expect([first.meta.total, rest.meta.hasMore, new Set([...first.data, ...rest.data].map(({ id }) => id)).size])
      .toEqual([50, false, 50])
    expect((await owner.get(`${path}?cursor=${first.meta.cursor}`)).status).toBe(400)
  })
})
