import { beforeAll, describe, expect, it } from "vitest"
import { type Account, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"

const berth = useBerth()
let owner: Account
let projectId: string
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  projectId = (await owner.project()).id
})

const patch = (server: Server, body: unknown) => owner.request("PATCH", `/v1/servers/${server.id}`, { body })

describe("a server's egress", () => {
  it("is refused in words that name the entry", async () => {
    const server = await owner.server(projectId)
    const refused = async (egress: unknown) => {
      const { body, status } = await owner.request<{ error: { details: { issues: ReadonlyArray<object> } } }>(
        "PATCH",
        `/v1/servers/${server.id}`,
        { body: { egress } }
      )
      expect(status, JSON.stringify(egress)).toBe(422)
      return body.error.details.issues
    }
    expect(await refused({ allow: ["a.example.com", "https://b.example.com/x"] })).toEqual([
      { path: "egress.allow.1", message: "must be a host without a scheme, such as api.example.com" }
    ])
    expect(await refused({ allow: ["10.0.0.1"] })).toEqual([
      { path: "egress.allow.0", message: "must not be an address of a private, local or reserved range" }
    ])
    expect(await refused("all")).toEqual([{
      path: "egress",
      message: expect.stringContaining("internet, none") as string
    }])
    expect(await refused({ allow: Array.from({ length: 101 }, (_, i) => `h${i}.example.com`) })).toEqual([
      { path: "egress.allow", message: "must be at most 100 entries" }
    ])
    expect(await refused({ deny: [] })).toContainEqual({ path: "egress.deny", message: "is not a known field" })
    for (const odd of [[], 1, { allow: "x" }, { allow: [null] }, { allow: ["\0"] }, { allow: ["\ud800.com"] }]) {
      await refused(odd)
    }
  })

  it("takes hosts to add to those of now, all of them where changes meet; \"internet\" stays what it is", async () => {
    const server = await owner.server(projectId)
    const names = Array.from({ length: 12 }, (_, i) => `h${i}.example.com`)
    const answers = await Promise.all(
      names.map((name) => patch(server, { egress: { add: [name, "H0.example.com."] } }))
    )
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200))
    const egressOf = async (change: unknown) => {
      const { body, status } = await owner.request<{ data: { egress: unknown }; error: { details: unknown } }>(
        "PATCH",
        `/v1/servers/${server.id}`,
        { body: { egress: change } }
      )
      return status === 200 ? body.data.egress : body.error.details
    }
    const { allow } = await egressOf({ add: ["h0.example.com"] }) as { allow: ReadonlyArray<string> }
    expect([...allow].sort()).toEqual([...names].sort())
    const many = Array.from({ length: 89 }, (_, i) => `m${i}.example.com`)
    expect(await egressOf({ add: many })).toEqual({
      issues: [{ path: "egress.add", message: expect.stringContaining("longer than 100 entries") as string }]
    })
    expect(await egressOf({ add: ["10.0.0.1"] })).toEqual({
      issues: [{ path: "egress.add.0", message: "must not be an address of a private, local or reserved range" }]
    })
    for (const odd of [{}, { add: ["a.b.c"], allow: [] }]) {
      expect(await egressOf(odd)).toEqual({
        issues: [{ path: "egress", message: expect.stringContaining("must have allow") as string }]
      })
    }
    await egressOf("internet")
    expect(await egressOf({ add: ["a.example.com"] })).toBe("internet")
    await egressOf("none")
    expect(await egressOf({ add: ["a.example.com"] })).toEqual({ allow: ["a.example.com"] })
  })

  it("is stored in canonical form without repetitions, and null is the plan's default again", async () => {
    const server = await owner.server(projectId, {
      egress: { allow: ["B.example.com", "a.example.com.", "b.example.com"] }
    })
    expect(server).toMatchObject({ egress: { allow: ["b.example.com", "a.example.com"] } })
    const shown = async (egress: unknown) => (await patch(server, { egress })).body
    expect(await shown("internet")).toMatchObject({ data: { egress: "internet" } })
    expect(await shown({ allow: [] })).toMatchObject({ data: { egress: { allow: [] } } })
    expect(await shown(null)).toMatchObject({ data: { egress: "none" } })
    const { body } = await owner.get<{ data: ReadonlyArray<Server> }>(`/v1/projects/${projectId}/servers`)
    expect(body.data.find(({ id }) => id === server.id)).toMatchObject({ egress: "none" })
  })
})
