import { readdirSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { Killable } from "../deployments/support/killable.ts"
import { untilTrue } from "../deployments/support/wait.ts"
import { traces } from "../program/support/traces.ts"
import { stdioShimBundle } from "../ready-server/bundle.ts"
import { dataOf, type Listed } from "../support/account.ts"
import { describeLong } from "../support/needs.ts"
import { startNpmRegistry } from "./support/npm-registry.ts"
import { stdioServer } from "./support/stdio-server.ts"

interface Deployment {
  readonly id: string
  readonly version: number
  readonly status: string
  readonly active: boolean
  readonly errorMessage?: string
}

/** Of those that live, as far as this user may look. */
const workingIn = (folder: string) =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
    } catch {
      return false
    }
  })

const missing = process.platform === "linux" ? undefined : "machines run on Linux only"

describeLong("a platform that is killed while it installs a package", () => {
  it(
    "leaves no installer, and the next start ends the deployment: as live as it can be, or failed with why",
    async () => {
      await stdioShimBundle()
      const registry = await startNpmRegistry()
      await registry.publish("part", "1.0.0", { "index.js": "module.exports = 'hello'" })
      for (const name of ["killed", "unpublished"]) {
        await registry.publish(name, "1.0.0", { "a.js": stdioServer("require('part')") }, {
          bin: "a.js",
          dependencies: { part: "^1.0.0" }
        })
      }
      const platform = new Killable({ NPM_REGISTRY: registry.url, ALLOWED_PRIVATE_HOSTS: registry.host })
      const packages = join(platform.home, "packages")
      const rest = () => readdirSync(packages).filter((name) => name.startsWith(".tmp-"))
      try {
        await platform.start()
        const owner = await platform.signUp()
        const path = `/v1/servers/${(await owner.server((await owner.project()).id)).id}`
        const deployments = async () => (await owner.get<Listed<Deployment>>(`${path}/deployments`)).body.data

        /** Begins the deployment, and kills the platform while npm waits for a part of the package. */
        const killedDuring = async (name: string) => {
          const letGo = registry.hold("part/-")
          const asked = registry.seen.length
          const begun = await owner.post<{ data: Deployment }>(`${path}/deploy`, {
            imageUri: `npm:${name}`,
            wait: false
          })
          await untilTrue(() => registry.seen.slice(asked).some((file) => file.startsWith("/part/-/")))
          expect(workingIn(packages)).not.toEqual([])
          expect(rest()).toHaveLength(1)
          await platform.kill()
          await untilTrue(() => workingIn(packages).length === 0)
          letGo()
          return dataOf(begun).id
        }
        /** Nothing is under way, and nothing is left of what was: one machine, that of the version that serves. */
        const settles = async (active: string) => {
          await platform.start()
          await untilTrue(async () => (await deployments()).every(({ status }) => /running|failed/.test(status)))
          await untilTrue(() => traces(platform.home).machines.length === 1 && rest().length === 0)
          expect(traces(platform.home).machines).toEqual([active])
          expect(readdirSync(join(platform.home, "machines")).filter((name) => !name.startsWith("."))).toEqual([active])
          expect(workingIn(packages)).toEqual([])
          expect(dataOf(await owner.get<{ data: unknown }>(path))).toMatchObject({ status: "running" })
        }

        const first = await killedDuring("killed")
        await settles(first)
        expect(await deployments()).toMatchObject([{ id: first, version: 1, status: "running", active: true }])

        // Of this one the registry knows nothing any more.
        await killedDuring("unpublished")
        registry.unpublish("unpublished")
        await settles(first)
        expect(await deployments()).toMatchObject([
          {
            version: 2,
            status: "failed",
            active: false,
            errorMessage: expect.stringMatching(/^resolving: the registry \S+ has no package unpublished$/)
          },
          { id: first, status: "running", active: true }
        ])
      } finally {
        await platform.clear()
        await registry.close()
      }
    },
    120_000
  )
}, missing)
