import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { berthCli } from "../cli/mcp/run.ts"
import { anyMachines } from "../scanning/support/scanned.ts"
import { type Account, dataOf } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { type FakeRegistryOptions, startFakeRegistry, testImage } from "../support/registry.ts"

type Fake = Awaited<ReturnType<typeof startFakeRegistry>>

describe.each(["token", "basic"] as const)("a deployment from a registry that wants a login (%s)", (auth) => {
  const berth = new Berth()
  let registry: Fake
  let owner: Account
  let wanted = "reader:first"
  let image = ""
  let serverId = ""

  const options: FakeRegistryOptions = { auth, login: () => wanted, redirectBlobs: true }
  beforeAll(async () => {
    registry = await startFakeRegistry(options)
    const allowed = `${registry.host},${registry.objectsHost}`
    await berth.start({ machines: anyMachines(), variables: { ALLOWED_PRIVATE_HOSTS: allowed } })
    owner = await berth.signUp("enterprise")
  })
  afterAll(async () => {
    await berth.stop()
    await registry.close()
  })

  const outcomeFor = async (account: Account, registryCredential: string | null = null) => {
    image = registry.add("acme/menu", await testImage({ config: { User: String(registry.blobs.size) } }), "v1")
    const server = await account.server((await account.project()).id)
    serverId = server.id
    if (registryCredential !== null) await account.patch(`/v1/servers/${server.id}`, { registryCredential })
    const path = `/v1/servers/${server.id}/deploy`
    const { errorMessage, status } = dataOf(
      await account.post<{ data: { status: string; errorMessage?: string } }>(path, { imageUri: image })
    )
    return errorMessage ?? status
  }
  const sent = () => registry.seen.map(({ authorization }) => authorization).filter((said) => said !== undefined)
  const add = async (account: Account, password: string, more: object = {}) =>
    dataOf(
      await account.post<{ data: { id: string } }>("/v1/registries", {
        host: registry.host,
        username: "reader",
        password,
        ...more
      })
    ).id

  it("without credentials says to add them", async () => {
    expect(await outcomeFor(owner)).toMatch(/^resolving: 127\.0\.0\.1:\d+ refuses .*add_registry/)
    expect(sent()).toEqual([])
  })

  it("has the image with those of the account that owns the project, and the hosts of its blobs see none", async () => {
    await add(owner, "first")
    expect(await outcomeFor(owner)).toBe("running")
    const objects = registry.seen.filter(({ host }) => host === registry.objectsHost)
    expect(objects.length).toBeGreaterThan(0)
    for (const { authorization } of objects) expect(authorization).toBeUndefined()
    if (auth === "token") {
      const basic = registry.seen.filter(({ authorization }) => authorization?.startsWith("Basic "))
      for (const { path } of basic) expect(path).toMatch(/^\/token\?/)
    }
  })

  it("never has the image with another account's", async () => {
    registry.seen.length = 0
    expect(await outcomeFor(await berth.signUp())).toMatch(/^resolving: .*add_registry/)
    expect(sent()).toEqual([])
  })

  it("with a password that is not right any more says to check it, and has the image once it is changed", async () => {
    const account = await berth.signUp("enterprise")
    const id = await add(account, "first")
    expect(await outcomeFor(account)).toBe("running")
    wanted = "reader:second"
    const refusal = await outcomeFor(account)
    expect(refusal).toMatch(/^resolving: .*check the password \(update_registry/)
    await account.patch(`/v1/registries/${id}`, { password: "second" })
    expect(await outcomeFor(account)).toBe("running")
    await account.delete(`/v1/registries/${id}`)
    expect(await outcomeFor(account)).toMatch(/add_registry/)
    wanted = "reader:first"
  })

  it("has the image with the credentials that its server names, not with the host's own", async () => {
    const account = await berth.signUp("enterprise")
    await add(account, "first", { name: "robot" })
    expect(await outcomeFor(account)).toMatch(/registryCredential/)
    expect(await outcomeFor(account, "robot")).toBe("running")
    await add(account, "stale")
    expect(await outcomeFor(account, "robot")).toBe("running")
    expect(await outcomeFor(account)).toMatch(/with your account's credentials: check/)
    await add(account, "stale", { name: "old" })
    expect(await outcomeFor(account, "old")).toMatch(/with your account's credentials old: check/)
  })

  it("that is refused is told by the command line with its own command to mend it", async () => {
    const account = await berth.signUp("enterprise")
    const told = async () => {
      const env = { BERTH_URL: berth.url, BERTH_TOKEN: account.token }
      return /^Error +(.*)$/m.exec((await berthCli(["status", "--server", serverId], env)).out)?.[1] ?? ""
    }
    const command = `berth registries add ${registry.host}`
    await outcomeFor(account)
    const none = await told()
    expect(none).toContain(`credentials for the registry (${command} --username USER), or `)
    expect(none).toContain("(server.registry_credential of berth.toml)")
    await add(account, "stale", { name: "old" })
    await outcomeFor(account, "old")
    const stale = await told()
    expect(stale).toContain(`credentials old: check the password (${command} --name old --username USER), and`)
    for (const text of [none, stale]) expect(text).not.toMatch(/_registry\b|\/v1\//)
  })

  it("is sent none that its server names for another host", async () => {
    const account = await berth.signUp("enterprise")
    await add(account, "first", { name: "elsewhere", host: "other.example" })
    const before = sent().length
    expect(await outcomeFor(account, "elsewhere")).toMatch(/^resolving: .*add_registry/)
    expect(sent().length).toBe(before)
  })

  it("writes no password and no token into any log", () => {
    const secrets = [...new Set(sent().map((said) => said.replace(/^\w+ /, "")))]
    expect(secrets.length).toBeGreaterThan(1)
    for (const line of berth.logged) for (const secret of secrets) expect(line).not.toContain(secret)
  })
})
