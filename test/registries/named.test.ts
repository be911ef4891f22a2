import { beforeAll, describe, expect, it } from "vitest"
import { failure, invalid } from "../contract/shapes.ts"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"

interface Named {
  readonly id: string
  readonly registryCredential: string | null
}

const berth = useBerth()
let owner: Account
let projectId = ""
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  projectId = (await owner.project()).id
})

const add = (host: string, name?: string, account = owner) =>
  account.post<{ data: { id: string; name: string } }>("/v1/registries", {
    host,
    username: "u",
    password: "p",
    ...name === undefined ? {} : { name }
  })
const create = (registryCredential?: unknown) =>
  owner.post<{ data: Named }>(`/v1/projects/${projectId}/servers`, { name: "S", registryCredential })
const change = (id: string, registryCredential: unknown) =>
  owner.patch<{ data: Named }>(`/v1/servers/${id}`, { registryCredential })

describe("registry credentials that servers name", () => {
  it("stand beside the host's own, under a name that is one in the account", async () => {
    expect(dataOf(await add("ghcr.io")).name).toBe("ghcr.io")
    expect((await add("ghcr.io", "robot")).status).toBe(201)
    for (const host of ["ghcr.io", "quay.io"]) {
      const second = await add(host, "robot")
      expect([second.status, second.body]).toEqual([409, failure("CONFLICT")])
      expect(second.text).toContain("named robot")
    }
    expect((await add("ghcr.io", "robot", await berth.signUp())).status).toBe(201)
  })

  it("are named at creation and by a change, and null is the image's host again", async () => {
    await add("docker.io", "hub")
    const made = dataOf(await create("hub"))
    expect(made.registryCredential).toBe("hub")
    await owner.patch(`/v1/servers/${made.id}`, { name: "T" })
    expect(dataOf(await owner.get<{ data: Named }>(`/v1/servers/${made.id}`)).registryCredential).toBe("hub")
    expect(dataOf(await change(made.id, null)).registryCredential).toBeNull()
    expect(dataOf(await create()).registryCredential).toBeNull()
    // As a host is, with credentials of its own or without.
    for (const host of ["Docker.io", "registry.example:5000", "localhost"]) {
      await change(made.id, "hub")
      expect(dataOf(await change(made.id, host)).registryCredential).toBeNull()
    }
  })

  it("have no host for a name, and say so", async () => {
    const refused = await add("ghcr.io", "localhost")
    expect([refused.status, refused.body]).toEqual([422, invalid("name")])
    expect(refused.text).toContain("must not be a host")
  })

  it("must be the account's: of another's, and of none, nothing is written", async () => {
    await add("quay.io", "theirs", await berth.signUp())
    const server = dataOf(await create())
    for (const name of ["theirs", "nobody", "", "\u0000", 1, {}]) {
      const refused = await change(server.id, name)
      expect([name, refused.status, refused.body]).toEqual([name, 422, invalid("registryCredential")])
      expect((await create(name)).body).toEqual(invalid("registryCredential"))
    }
    expect(dataOf(await owner.get<{ data: Named }>(`/v1/servers/${server.id}`)).registryCredential).toBeNull()
  })

  it("are not deleted while a server names them, and are once it is deleted or names others", async () => {
    const { id } = dataOf(await add("ghcr.io", "wanted"))
    const [one, other] = [dataOf(await create("wanted")), dataOf(await create("wanted"))]
    const refused = await owner.delete(`/v1/registries/${id}`)
    expect([refused.status, refused.body]).toEqual([409, failure("CONFLICT")])
    expect(refused.text).toContain(`(${one.id}), S (${other.id})`)
    await change(one.id, null)
    await owner.delete(`/v1/servers/${other.id}`)
    expect((await owner.delete(`/v1/registries/${id}`)).status).toBe(204)
  })

  it("are either named or deleted when both come at once", async () => {
    const server = dataOf(await create())
    for (let round = 0; round < 5; round++) {
      const { id } = dataOf(await add("ghcr.io", "fought-for"))
      const [named, deleted] = await Promise.all([
        change(server.id, "fought-for"),
        owner.delete(`/v1/registries/${id}`)
      ])
      expect([[200, 409], [422, 204]]).toContainEqual([named.status, deleted.status])
      await change(server.id, null)
      await owner.delete(`/v1/registries/${id}`)
    }
  })
})
