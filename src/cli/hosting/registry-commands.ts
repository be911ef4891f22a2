import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { fail } from "#src/cli/fail.ts"
import { json, show } from "#src/cli/json-output.ts"
import { listing } from "#src/cli/mcp/render.ts"
import { registryHost } from "#src/images/reference.ts"
import { type ImageRegistry, ImageRegistryInput } from "#src/registries/ImageRegistry.ts"
import { decodeInput } from "#src/shared/Failure.ts"
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect, Option } from "effect"
import { secretOf } from "./env-commands.ts"
import { access, connect, type Connected, orEnd } from "./platform.ts"
import { all } from "./target.ts"

const registriesOf = ({ api }: Connected) =>
  all((cursor) => api.registries.list({ urlParams: { limit: 100, ...cursor } }))

const find = Effect.fn("cli.findRegistry")(function*(
  connected: Connected,
  given: string,
  named: Option.Option<string>
) {
  const host = registryHost(given) ?? given
  const name = Option.getOrElse(named, () => host)
  return (yield* registriesOf(connected)).find((registry) => registry.host === host && registry.name === name)
})

const listCommand = Command.make("list", { ...access, json }, ({ json, token, url }) =>
  Effect.gen(function*() {
    const registries = yield* registriesOf(yield* connect({ url, token }))
    yield* show(json, registries, () =>
      registries.length === 0
        ? "There is no registry yet: berth registries add HOST --username NAME"
        : listing(
          ["REGISTRY", "NAME", "USER", "CHANGED"],
          registries.map(({ host, name, updatedAt, username }) => [host, name, username, updatedAt.toISOString()])
        ))
  }).pipe(orEnd(url))).pipe(Command.withDescription("List the registries that you have credentials for"))

const host = Args.text({ name: "host" }).pipe(
  Args.withDescription("Such as ghcr.io, docker.io or registry.example.com:5000")
)

const name = Options.text("name").pipe(
  Options.withDescription(
    "Of further credentials for the host, for servers that name them (registry_credential of berth.toml)"
  ),
  Options.optional
)

const username = Options.text("username").pipe(
  Options.withAlias("u"),
  Options.withDescription("Your user there; the password is asked for, or read from standard input")
)

const named = (name: Option.Option<string>) => Option.match(name, { onNone: () => ({}), onSome: (name) => ({ name }) })

const called = ({ host, name }: typeof ImageRegistry.Type) => name === host ? host : `${host} (${name})`

/** What the platform would refuse: the client sends nothing that does not fit. */
const check = (input: typeof ImageRegistryInput.Type) =>
  Effect.mapError(
    decodeInput(ImageRegistryInput)(input),
    ({ message }) => new CliFailure({ message, code: exitCodes.failed })
  )

const addCommand = Command.make(
  "add",
  { host, name, username, ...access, json },
  ({ host, json, name, token, url, username }) =>
    Effect.gen(function*() {
      const payload = yield* check({ host, ...named(name), username, password: yield* secretOf("Password") })
      const connected = yield* connect({ url, token })
      const known = yield* find(connected, host, name)
      const { host: _host, name: _name, ...update } = payload
      const { data } = yield* known === undefined
        ? connected.api.registries.create({ payload })
        : connected.api.registries.update({ path: { registryId: known.id }, payload: update })
      yield* show(json, data, () => `${known === undefined ? "Added" : "Changed"} ${called(data)}`)
      yield* Console.error("It counts from the next deployment on: berth deploy")
    }).pipe(orEnd(url), Effect.catchTag("QuitException", () => fail("Cancelled")))
).pipe(Command.withDescription("Add a private registry, or change its user and password"))

const removeCommand = Command.make(
  "remove",
  { host, name, ...access, json },
  ({ host, json, name, token, url }) =>
    Effect.gen(function*() {
      const connected = yield* connect({ url, token })
      const known = yield* find(connected, host, name)
      if (known === undefined) {
        const what = Option.match(name, { onNone: () => "", onSome: (name) => ` named ${name}` })
        return yield* new CliFailure({
          message: `You have no credentials for ${host}${what}`,
          code: exitCodes.notFound
        })
      }
      yield* connected.api.registries.remove({ path: { registryId: known.id } })
      yield* show(json, known, () => `Removed ${called(known)}`)
    }).pipe(orEnd(url))
).pipe(Command.withDescription("Remove your credentials for a registry"))

/** `berth registries list|add|remove`. */
export const registriesCommand = Command.make("registries").pipe(
  Command.withSubcommands([listCommand, addCommand, removeCommand])
)
