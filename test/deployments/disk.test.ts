import { Effect, Exit, Scope } from "effect"
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { Berth, useBerth } from "../support/Berth.ts"
import { freshDatabaseUrl } from "../support/Database.ts"
import { describeLong, soak } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { appImage, missingForApps } from "./support/app-image.ts"
import { untilTrue } from "./support/wait.ts"

interface Done {
  readonly status: string
  readonly version: number
  readonly imageDigest: string
}

interface Report {
  readonly limits: ReadonlyArray<{ readonly limit: string; readonly used: number }>
}

const name = ({ imageDigest }: Done) => imageDigest.slice("sha256:".length)
const variables = (home: string) => ({ BERTH_HOME: home, DRAIN_SECONDS: "0" })
/** Of one server. Two of its versions are kept, and one before each goes with the next: more repeat that. */
const deploys = soak ? 20 : 8
/** Bytes of the layer that an image has for itself. */
const own = 200_000

const look = (home: string) => {
  const listed = (...path: ReadonlyArray<string>) =>
    existsSync(join(home, ...path)) ? readdirSync(join(home, ...path)).sort() : []
  const rootfs = () => listed("rootfs")
  const blobs = () => listed("images", "blobs", "sha256")
  const json = (blob: string) => JSON.parse(readFileSync(join(home, "images", "blobs", "sha256", blob), "utf8"))
  /** The blobs of these images: manifest, config and layers. */
  const closure = (images: ReadonlyArray<string>) =>
    [
      ...new Set(images.flatMap((image) => {
        const { config, layers } = json(image) as {
          config: { digest: string }
          layers: ReadonlyArray<{ digest: string }>
        }
        return [image, ...[config, ...layers].map(({ digest }) => digest.slice("sha256:".length))]
      }))
    ].sort()
  /** Of everything below that is no directory. */
  const bytes = (...path: ReadonlyArray<string>) =>
    execFileSync("find", [join(home, ...path), "!", "-type", "d", "-printf", "%s\\n"], { encoding: "utf8" })
      .trim().split("\n").reduce((sum, size) => sum + Number(size), 0)
  const machines = () => listed("machines").filter((name) => !name.startsWith("."))
  const index = () =>
    (JSON.parse(readFileSync(join(home, "images", "index.json"), "utf8")) as {
      manifests: ReadonlyArray<{ digest: string }>
    })
      .manifests.map(({ digest }) => digest.slice("sha256:".length)).sort()
  return { rootfs, blobs, closure, bytes, machines, index }
}

const deployed = async (owner: Account, { id }: Server, note: string) => {
  const imageUri = await Effect.runPromise(appImage("healthy", { note, extra: note.repeat(own / note.length) }))
  const done = dataOf(await owner.post<{ data: Done }>(`/v1/servers/${id}/deploy`, { imageUri }))
  expect(done.status).toBe("running")
  return done
}

describeLong("the disk", () => {
  const home = temporaryDirectory()
  const berth = useBerth({ machines: true, variables: variables(home) })
  const { blobs, bytes, closure, index, machines, rootfs } = look(home)
  /** At the end of the collection that a removed machine asks for. */
  const holds = async (kept: ReadonlyArray<Done>) => {
    const names = kept.map(name).sort()
    await expect.poll(rootfs, { timeout: 20_000 }).toEqual(names)
    await expect.poll(index).toEqual(names)
    await expect.poll(blobs).toEqual(closure(names))
  }

  it("holds what is kept and nothing else, after deploys, rollbacks and the end of other servers", async () => {
    const owner = await berth.signUp("pro")
    const project = await owner.project()
    const [one, two] = [await owner.server(project.id), await owner.server(project.id)]
    await owner.patch(`/v1/servers/${one.id}`, { deploymentRetentionCount: 2 })
    const all: Array<Done> = []
    for (let version = 1; version <= deploys; version++) {
      all.push(await deployed(owner, one, `version ${version} `))
      // The other server has the image of the third, and the first one the image of none of its own before.
      if (version === 3) expect(name(await deployed(owner, two, "version 3 "))).toBe(name(all[2]!))
    }
    const newest = all.slice(-3)
    await holds([...newest, all[2]!])
    // What the account is told to use is what is there: the files, and each image's own blobs.
    const kept = [...newest, all[2]!].map(name)
    const blobsOf = (image: string) => closure([image]).filter((blob) => blob !== image)
    const stored = kept.flatMap(blobsOf).map((blob) => bytes("images", "blobs", "sha256", blob))
    const report = dataOf(await owner.get<{ data: Report }>("/v1/billing/usage"))
    const used = report.limits.find(({ limit }) => limit === "imageBytes")?.used
    const there = bytes("rootfs") + stored.reduce((sum, size) => sum + size, 0)
    // Archives have a header of 512 bytes for each file, and fill its last 512 (pax, POSIX.1-2017), which count too.
    expect(used).toBeGreaterThanOrEqual(there)
    expect(used).toBeLessThan(there + 4 * 50 * 1024)
    await expect.poll(machines, { timeout: 20_000 }).toHaveLength(2)

    // A version to go back to is there, and goes on being there; it takes the place of the oldest.
    const back = await owner.post<{ data: Done }>(`/v1/servers/${one.id}/rollback`, { version: deploys - 2 })
    expect(dataOf(back)).toMatchObject({
      status: "running",
      version: deploys + 1,
      imageDigest: all.at(-3)!.imageDigest
    })
    const gone = await owner.post(`/v1/servers/${one.id}/rollback`, { version: deploys - 3 })
    expect(gone.status).toBe(409)
    await holds([...newest, all[2]!])

    // The shared image stays for the one that has it, and the rest goes with its server.
    await owner.delete(`/v1/servers/${one.id}`)
    await holds([all[2]!])
    await owner.delete(`/v1/servers/${two.id}`)
    await holds([])
    await expect.poll(machines).toEqual([])
  }, 240_000)
}, missingForApps)

describeLong("a crash between a record and its files", () => {
  it("leaves nothing behind that the next start does not find", async () => {
    const home = temporaryDirectory()
    const { blobs, closure, rootfs } = look(home)
    const scope = Effect.runSync(Scope.make())
    const databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope))
    const start = () => new Berth().start({ databaseUrl, machines: true, variables: variables(home) })
    const first = await start()
    const owner = await first.signUp("pro")
    const kept = await owner.server((await owner.project()).id)
    const lost = await owner.server(kept.projectId)
    const image = await deployed(owner, kept, "kept ")
    const other = await deployed(owner, lost, "lost ")
    const copy = temporaryDirectory()
    for (const part of ["images", "rootfs"]) cpSync(join(home, part), join(copy, part), { recursive: true })
    await owner.delete(`/v1/servers/${lost.id}`)
    await untilTrue(() => rootfs().length === 1)
    await first.stop()
    // The record went, and its files did not; one was being removed, one written, and one was never recorded.
    for (const part of ["images", "rootfs"]) cpSync(join(copy, part), join(home, part), { recursive: true })
    expect(rootfs()).toEqual([name(image), name(other)].sort())
    mkdirSync(join(home, "rootfs", "f".repeat(64)))
    writeFileSync(join(home, "images", "blobs", "sha256", "e".repeat(64)), "x")
    const second = await start()
    try {
      await untilTrue(() => rootfs().length === 1)
      expect(rootfs()).toEqual([name(image)])
      await untilTrue(() => blobs().length === closure([name(image)]).length)
      expect(blobs()).toEqual(closure([name(image)]))
    } finally {
      await second.stop()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }, 60_000)
}, missingForApps)
