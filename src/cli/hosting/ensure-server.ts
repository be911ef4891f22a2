import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { registryHost } from "#src/images/reference.ts"
import { CreateServer, type Server, type UpdateServer } from "#src/servers/Server.ts"
import { Console, Effect, Option, Schema } from "effect"
import { type Connected } from "./platform.ts"
import { memories, type ServerFile } from "./ServerFile.ts"
import { type Created } from "./take-back.ts"
import { projectNamed, serversOf } from "./target.ts"

type Changes = typeof UpdateServer.Type

const defined = <A extends object>(fields: A) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof A]: Exclude<A[K], undefined>
  }

const decodeNew = Schema.decodeUnknown(CreateServer)

/** What the file says that a server can be changed to. */
const wanted = ({ deploy, health, server }: ServerFile): Changes =>
  defined({
    cpu: server.cpu,
    memoryMb: server.memory === undefined ? undefined : memories[server.memory],
    egress: server.egress,
    guestRequestsPerMinute: server.guest_requests_per_minute === "any" ? null : server.guest_requests_per_minute,
    guestMonthPercent: server.guest_month_percent,
    // As it is stored, so that a host is no change at each deployment.
    registryCredential:
      server.registry_credential !== undefined && registryHost(server.registry_credential) !== undefined
        ? null
        : server.registry_credential,
    healthPath: health?.path,
    healthTimeoutSeconds: health?.timeout,
    rollbackOnHealthCheckFailure: deploy?.auto_rollback,
    deploymentRetentionCount: deploy?.retention_count
  }) as Changes

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** The part of what is wanted that the server has not. */
const changesTo = (server: Server, changes: Changes): Changes =>
  Object.fromEntries(
    Object.entries(changes).filter(([name, value]) => !same(value, server[name as keyof Server]))
  )

const fixed = (file: ServerFile, server: Server, path: string) => {
  const { region, slug } = file.server
  const [name, now] = region !== undefined && region !== server.region
    ? ["region", server.region]
    : slug !== undefined && slug !== server.slug
    ? ["slug", server.slug]
    : []
  return name === undefined ? Effect.void : new CliFailure({
    message:
      `${path}: server.${name} can't be changed: the server has ${now}. Give the server another name to create ` +
      "a new one",
    code: exitCodes.badFile
  })
}

/** Creates the project and the server of the file where they are not there, and changes what differs. */
export const ensureServer = Effect.fn("cli.ensureServer")(function*(
  connected: Connected,
  file: ServerFile,
  path: string,
  created: (one: Created) => void
) {
  const { api } = connected
  const changes = wanted(file)
  const { deploymentRetentionCount: _count, rollbackOnHealthCheckFailure: _rollback, ...first } = changes
  const { name, region, slug } = file.server
  // Read before anything is created.
  const payload = yield* decodeNew({ name, ...defined({ region, slug }), ...first })
  const found = yield* projectNamed(connected, file.project.name)
  const project = yield* Option.match(found, {
    onSome: Effect.succeed,
    onNone: () =>
      Effect.map(api.projects.create({ payload: { name: file.project.name } }), ({ data }) => data).pipe(
        Effect.tap(({ id, name }) => {
          created({
            what: `the project ${name}`,
            remove: Effect.flatMap(
              serversOf(connected, id),
              ({ length }) =>
                length > 0 ? Effect.succeed(false) : Effect.as(api.projects.remove({ path: { projectId: id } }), true)
            )
          })
          return Console.error(`Created the project ${name}`)
        })
      )
  })
  const servers = yield* serversOf(connected, project.id)
  const [server, second] = servers.filter(({ name }) => name === file.server.name)
  if (second !== undefined) {
    return yield* new CliFailure({
      message: `The project has several servers named ${JSON.stringify(file.server.name)}; rename all but one of them`,
      code: exitCodes.failed
    })
  }
  if (server === undefined) {
    const { data: made } = yield* api.servers.create({ path: { projectId: project.id }, payload })
    created({
      what: `the server ${made.name}`,
      remove: Effect.as(api.servers.remove({ path: { serverId: made.id } }), true)
    })
    yield* Console.error(`Created the server ${made.name} at ${made.publicUrl}`)
    return yield* changed(connected, made, changes)
  }
  yield* fixed(file, server, path)
  return yield* changed(connected, server, changes)
})

const changed = Effect.fn("cli.changedServer")(function*({ api }: Connected, server: Server, wanted: Changes) {
  const payload = changesTo(server, wanted)
  const names = Object.keys(payload)
  if (names.length === 0) return server
  const { data } = yield* api.servers.update({ path: { serverId: server.id }, payload })
  yield* Console.error(`Changed ${names.join(", ")}`)
  return data
})
