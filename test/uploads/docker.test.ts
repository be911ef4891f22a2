import { execFile } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"
import { missingForApps, perlFolder } from "../deployments/support/app-image.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { dockerDaemon, missingDocker } from "../support/docker.ts"
import { describeLong } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"

interface Deployed {
  readonly status: string
  readonly errorMessage?: string
  readonly imageDigest: string | null
}

describeLong("an image pushed by Docker", () => {
  const berth = useBerth({ machines: true })
  const folder = join(temporaryDirectory("docker-folder"), "answers")
  let daemon: Awaited<ReturnType<typeof dockerDaemon>>
  let owner: Account
  let server: Server
  let key: string
  let registry: string
  let repository: string

  const docker = async (...args: ReadonlyArray<string>) => {
    const env = { ...process.env, ...daemon.env }
    const { stderr, stdout } = await promisify(execFile)("docker", [...args], { env, timeout: 60_000 })
    return stdout + stderr
  }
  const digestIn = (output: string) => /digest: (sha256:[0-9a-f]{64})/i.exec(output)?.[1]

  beforeAll(async () => {
    daemon = await dockerDaemon()
    owner = await berth.signUp("pro")
    const project = await owner.project()
    server = await owner.server(project.id, { healthTimeoutSeconds: 10 })
    key = (await owner.key(project.id, ["deployments:read", "deployments:write"])).key
    registry = new URL(berth.url).host
    repository = `${registry}/${project.slug}/answers`
    mkdirSync(folder)
    perlFolder(join(folder, "root"))
    writeFileSync(
      join(folder, "Dockerfile"),
      "FROM scratch\nCOPY root/ /\nENV BEHAVIOUR=healthy\nENTRYPOINT [\"/usr/bin/perl\", \"/app.pl\"]\n"
    )
    await docker("build", "--tag", `${repository}:v1`, folder)
  })
  afterAll(() => daemon.stop())

  it("is refused without a login, and with a wrong key at docker login", async () => {
    await expect(docker("push", `${repository}:v1`)).rejects.toThrow(/unauthorized|no basic auth/i)
    await expect(docker("login", registry, "--username", "any", "--password", "svc_live_wrong"))
      .rejects.toThrow(/unauthorized/i)
  })

  it("runs when it is deployed, and is what docker pull brings back", async () => {
    expect(await docker("login", registry, "--username", "any", "--password", key)).toContain("Login Succeeded")
    const digest = digestIn(await docker("push", `${repository}:v1`))
    expect(digest).toBeDefined()
    const deployed = dataOf(
      await owner.post<{ data: Deployed }>(`/v1/servers/${server.id}/deploy`, { imageUri: `${repository}:v1` })
    )
    expect([deployed.errorMessage, deployed.status, deployed.imageDigest]).toEqual([undefined, "running", digest])
    await docker("rmi", `${repository}:v1`)
    expect(digestIn(await docker("pull", `${repository}:v1`))).toBe(digest)
  })

  it("sends no layer again that is there", async () => {
    await docker("tag", `${repository}:v1`, `${repository}:v2`)
    const output = await docker("push", `${repository}:v2`)
    expect(output).toContain("Layer already exists")
    expect(output).not.toMatch(/: Pushed/)
  })
}, missingForApps ?? missingDocker)
