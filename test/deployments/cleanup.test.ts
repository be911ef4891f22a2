import { Effect } from "effect"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { appImage, type Behaviour, missingForApps } from "./support/app-image.ts"

interface Done {
  readonly status: string
  readonly imageDigest: string
}

describeLong("an image that nobody needs any more", () => {
  const home = temporaryDirectory()
  const berth = useBerth({ machines: true, variables: { BERTH_HOME: home } })

  const listed = (...path: ReadonlyArray<string>) =>
    existsSync(join(home, ...path)) ? readdirSync(join(home, ...path)).sort() : []
  const unpacked = () => listed("rootfs")
  const blobs = () => listed("images", "blobs", "sha256")
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  /** Until what was done has had images looked through. */
  const collected = async (work: () => Promise<unknown>) => {
    const times = () => berth.logged.filter((line) => line.includes("Collected images")).length
    const before = times()
    await work()
    await until(() => times() > before)
  }
  const deploy = async (owner: Account, serverId: string, behaviour: Behaviour, note = "") => {
    const imageUri = await Effect.runPromise(appImage(behaviour, { note }))
    return dataOf(await owner.post<{ data: Done }>(`/v1/servers/${serverId}/deploy`, { imageUri }))
  }
  const name = ({ imageDigest }: Done) => imageDigest.slice("sha256:".length)

  it("goes at once, layers and files, when its deployment failed; what others use stays", async () => {
    const owner = await berth.signUp("pro")
    const project = await owner.project()
    const [good, bad] = [await owner.server(project.id), await owner.server(project.id)]
    const runs = await deploy(owner, good.id, "healthy")
    const before = blobs()
    expect(unpacked()).toEqual([name(runs)])
    const failed = await deploy(owner, bad.id, "crash")
    expect([runs.status, failed.status]).toEqual(["running", "failed"])
    // Its layer is that of the image that runs; its manifest, config and files are its own.
    await until(() => unpacked().length === 1 && blobs().length === before.length)
    expect([unpacked(), blobs()]).toEqual([[name(runs)], before])

    // The same image for two, of which one fails at something else: it is needed still.
    await owner.patch(`/v1/servers/${bad.id}`, { healthPath: "/exit/3" })
    expect(await deploy(owner, bad.id, "healthy")).toMatchObject({ status: "failed", imageDigest: runs.imageDigest })
    await collected(() => owner.delete(`/v1/servers/${bad.id}`))
    expect([unpacked(), blobs()]).toEqual([[name(runs)], before])
    await owner.delete(`/v1/projects/${project.id}`)
    await until(() => unpacked().length === 0 && blobs().length === 0)
  }, 60_000)

  it("stays while the machine of a failed deployment is kept for its logs, and goes with that", async () => {
    const owner = await berth.signUp("pro")
    const server = await owner.server((await owner.project()).id)
    await owner.patch(`/v1/servers/${server.id}`, { rollbackOnHealthCheckFailure: false, healthTimeoutSeconds: 1 })
    const kept = await deploy(owner, server.id, "failing")
    expect([kept.status, unpacked()]).toEqual(["failed", [name(kept)]])
    const other = await owner.server(server.projectId)
    await collected(() => owner.delete(`/v1/servers/${other.id}`))
    expect(unpacked()).toEqual([name(kept)])
    const next = await deploy(owner, server.id, "healthy", "next")
    await until(() => unpacked().length === 1)
    expect(unpacked()).toEqual([name(next)])
    await owner.delete(`/v1/servers/${server.id}`)
    await until(() => unpacked().length === 0)
  }, 60_000)
}, missingForApps)
