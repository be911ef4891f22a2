import { type LayoutEntry, writeLayout } from "#src/images/layout.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { type Account } from "../../support/account.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { StartableMachines } from "../../support/startable-machines.ts"

/** Machines that answer health checks, whatever their image has. */
export const anyMachines = () => {
  const machines = new StartableMachines()
  return Layer.effect(
    Machines,
    Effect.map(Machines, (driver) => ({
      ...driver,
      provision: ({ name, owner }: { readonly name: string; readonly owner: string }) =>
        Effect.promise(() => machines.add(name, owner)).pipe(
          Effect.zipRight(Effect.orDie(driver.inspect(name))),
          Effect.map((state) => state!)
        )
    }))
  ).pipe(Layer.provide(machines.layer))
}

export const file = (path: string, content: string): LayoutEntry => ({ type: "file", path, content })

export const node = (path: string, name: string, version: string) =>
  file(`${path}/node_modules/${name}/package.json`, JSON.stringify({ name, version }))

/** An image with these layers, as an address. Its content differs from any other image's. */
export const imageOf = async (...layers: ReadonlyArray<ReadonlyArray<LayoutEntry>>) => {
  const directory = join(temporaryDirectory("scan"), "layout")
  await Effect.runPromise(writeLayout(directory, {
    layers: [[file("unique", directory)], ...layers],
    config: { entrypoint: ["/run"], cmd: [], env: [], workingDir: "/", user: "" }
  }))
  return `oci:${directory}`
}

export interface Deployed {
  readonly id: string
  readonly serverId: string
  readonly status: string
  readonly version: number
  readonly trivyScanResult: Readonly<Record<string, number>> | null
  readonly errorMessage?: string
}

export interface Vulnerability {
  readonly id: string
  readonly aliases: ReadonlyArray<string>
  readonly package: string
  readonly version: string
  readonly fixedVersion: string | null
  readonly severity: string
  readonly title: string
  readonly url: string | null
}

interface Listed {
  readonly data: ReadonlyArray<Vulnerability>
  readonly meta: { readonly cursor: string | null; readonly hasMore: boolean; readonly total: number }
}

/** A server of an account, and what is deployed to it. */
export class Scanned {
  readonly owner: Account
  readonly id: string
  constructor(owner: Account, id: string) {
    this.owner = owner
    this.id = id
  }

  static of = async (owner: Account) => new Scanned(owner, (await owner.server((await owner.project()).id)).id)

  deploy = async (imageUri: string, wait = true) =>
    (await this.owner.post<{ data: Deployed }>(`/v1/servers/${this.id}/deploy`, { imageUri, wait })).body.data

  rollback = async (version: number) =>
    (await this.owner.post<{ data: Deployed }>(`/v1/servers/${this.id}/rollback`, { version })).body.data

  get = async (id: string) =>
    (await this.owner.get<{ data: Deployed & { progress: string | null } }>(`/v1/servers/${this.id}/deployments/${id}`))
      .body.data

  list = (id: string, query = "") =>
    this.owner.get<Listed>(`/v1/servers/${this.id}/deployments/${id}/vulnerabilities${query}`)

  vulnerabilities = async (id: string, query = "") => (await this.list(id, query)).body

  log = async () =>
    (await this.owner.get<{ data: { items: ReadonlyArray<{ message: string; level: string }> } }>(
      `/v1/servers/${this.id}/logs?limit=100`
    )).body.data.items.map(({ level, message }) => `${level} ${message}`).join("\n")
}
