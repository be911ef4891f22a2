import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { fail } from "#src/cli/fail.ts"
import { json, show } from "#src/cli/json-output.ts"
import { listing } from "#src/cli/mcp/render.ts"
import { registryHost } from "#src/images/reference.ts"
import { ImageRegistryInput } from "#src/registries/ImageRegistry.ts"
import { decodeInput } from "#src/shared/Failure.ts"
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect } from "effect"
import { secretOf } from "./env-commands.ts"
import { access, connect, type Connected, orEnd } from "./platform.ts"
import { all } from "./target.ts"

const registriesOf = ({ api }: Connected) =>
  all((cursor) => api.registries.list({ urlParams: { limit: 100, ...cursor } }))

const find = Effect.fn("cli.findRegistry")(function*(connected: Connected, host: string) {
  const name = registryHost(host) ?? host
  return (yield* registriesOf(connected)).find((registry) => registry.host === name)
})

const listCommand = Command.make("list", { ...access, json }, ({ json, token, url }) =>
  Effect.gen(function*() {
    const registries = yield* registriesOf(yield* connect({ url, token }))
    yield* show(json, registries, () =>
      registries.length === 0
        ? "There is no registry yet: berth registries add HOST --username NAME"
        : listing(
          ["REGISTRY", "USER", "CHANGED"],
          registries.map(({ host, updatedAt, username }) => [host, username, updatedAt.toISOString()])
        ))
  }).pipe(orEnd(url))).pipe(Command.withDescription("List the registries that you have credentials for"))

const host = Args.text({ name: "host" }).pipe(
  Args.withDescription("Such as ghcr.io, docker.io or registry.example.com:5000")
)

const username = Options.text("username").pipe(
  Options.withAlias("u"),
  Options.withDescription("Your user there; the password is asked for, or read from standard input")
)

/** What the platform would refuse: the client sends nothing that does not fit. */
const check = (input: typeof ImageRegistryInput.Type) =>
  Effect.mapError(
    decodeInput(ImageRegistryInput)(input),
    ({ message }) => new CliFailure({ message, code: exitCodes.failed })
  )

const addCommand = Command.make(
  "add",
  { host, username, ...access, json },
  ({ host, json, token, url, username }) =>
    Effect.gen(function*() {
      const payload = yield* check({ host, username, password: yield* secretOf("Password") })
      const connected = yield* connect({ url, token })
      const known = yield* find(connected, host)
      const { host: _, ...update } = payload
      const { data } = yield* known === undefined
        ? connected.api.registries.create({ payload })
        : connected.api.registries.update({ path: { registryId: known.id }, payload: update })
      yield* show(json, data, () => `${known === undefined ? "Added" : "Changed"} ${data.host}`)
      yield* Console.error("It counts from the next deployment on: berth deploy")
    }).pipe(orEnd(url), Effect.catchTag("QuitException", () => fail("Cancelled")))
).pipe(Command.withDescription("Add a private registry, or change its user and password"))

const removeCommand = Command.make(
  "remove",
  { host, ...access, json },
  ({ host, json, token, url }) =>
    Effect.gen(function*() {
      const connected = yield* connect({ url, token })
      const known = yield* find(connected, host)
      if (known === undefined) {
        return yield* new CliFailure({ message: `You have no credentials for ${host}`, code: exitCodes.notFound })
      }
      yield* connected.api.registries.remove({ path: { registryId: known.id } })
      yield* show(json, known, () => `Removed ${known.host}`)
    }).pipe(orEnd(url))
).pipe(Command.withDescription("Remove your credentials for a registry"))

/** `berth registries list|add|remove`. */
export const registriesCommand = Command.make("registries").pipe(
  Command.withSubcommands([listCommand, addCommand, removeCommand])
)
