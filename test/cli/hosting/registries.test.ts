import { Readable } from "node:stream"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { type Account, type Listed } from "../../support/account.ts"
import { useBerth } from "../../support/Berth.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { berthCli } from "../mcp/run.ts"

describe("berth registries", () => {
  const berth = useBerth()
  const env: Record<string, string> = { XDG_CONFIG_HOME: temporaryDirectory("registries") }
  let owner: Account
  beforeAll(async () => {
    owner = await berth.signUp()
    Object.assign(env, { BERTH_URL: berth.url, BERTH_TOKEN: owner.token })
  })
  afterAll(() => void vi.restoreAllMocks())

  const run = (...args: ReadonlyArray<string>) => berthCli(["registries", ...args], env)
  const add = (host: string, username: string, ...more: ReadonlyArray<string>) => {
    vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([Buffer.from("pass-w0rd\n")]) as never)
    return run("add", host, "--username", username, ...more)
  }

  it("adds one with a password from standard input, changes it by any of its names, and removes it", async () => {
    expect((await run("list")).out).toBe("There is no registry yet: berth registries add HOST --username NAME")
    expect(await add("docker.io", "first")).toMatchObject({ code: 0, out: "Added registry-1.docker.io" })
    expect(await add("index.docker.io", "second")).toMatchObject({ code: 0, out: "Changed registry-1.docker.io" })
    const listed = await run("list")
    expect(listed.out).toMatch(
      /^REGISTRY +NAME +USER +CHANGED\nregistry-1\.docker\.io +registry-1\.docker\.io +second +\d{4}-/
    )
    expect(listed.out).not.toContain("pass-w0rd")
    const { body } = await owner.get<Listed<object>>("/v1/registries")
    expect(JSON.parse((await run("list", "--json")).out)).toEqual(body.data)
    expect(await run("remove", "docker.io")).toMatchObject({ code: 0, out: "Removed registry-1.docker.io" })
    expect(await run("remove", "docker.io")).toMatchObject({ code: 4, err: "You have no credentials for docker.io" })
  })

  it("adds, changes and removes a further one by its name, beside the host's own", async () => {
    const robot = ["--name", "robot"]
    expect(await add("ghcr.io", "me")).toMatchObject({ code: 0, out: "Added ghcr.io" })
    expect(await add("ghcr.io", "r1", ...robot)).toMatchObject({ code: 0, out: "Added ghcr.io (robot)" })
    expect(await add("ghcr.io", "r2", ...robot)).toMatchObject({ code: 0, out: "Changed ghcr.io (robot)" })
    expect((await run("list")).out).toMatch(/^ghcr\.io +robot +r2 .*\nghcr\.io +ghcr\.io +me /m)
    expect(await run("remove", "quay.io", ...robot)).toMatchObject({
      code: 4,
      err: "You have no credentials for quay.io named robot"
    })
    expect(await run("remove", "ghcr.io", ...robot)).toMatchObject({ code: 0, out: "Removed ghcr.io (robot)" })
    expect(await run("remove", "ghcr.io")).toMatchObject({ code: 0, out: "Removed ghcr.io" })
  })

  it("tells what is wrong with a host, and adds nothing", async () => {
    expect(await add("https://ghcr.io", "me")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("host: must be a registry's host") as string
    })
    expect((await owner.get<Listed<object>>("/v1/registries")).body.meta.total).toBe(0)
  })
})
