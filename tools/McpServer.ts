import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { version } from "#src/config/version.ts"
import { type Answer, type Asked, type Methods, type ServedMcp } from "#src/format/served-mcp.ts"
import { skillCapabilities, skillMethods } from "#src/format/skills-over-mcp.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { CallerLeft, leavingBy } from "#src/shared/CallerLeft.ts"
import { type Report } from "#src/shared/progress.ts"
import { Cause, Effect, Option, Runtime } from "effect"
import { accountTools } from "./accounts.ts"
import { answerOf, describeTool, failed, readingOf, shortOf, unknownTool } from "./answers.ts"
import { billingTools } from "./billing.ts"
import { businessTools } from "./businesses.ts"
import { catalogTools } from "./catalog.ts"
import { clientTools } from "./clients.ts"
import { completions } from "./completions.ts"
import { compositeTools } from "./composites.ts"
import { confirmations, ForeignState } from "./confirm.ts"
import { deploymentTools } from "./deployments.ts"
import { directoryTools } from "./directory.ts"
import { environmentTools } from "./environment.ts"
import { everyday } from "./everyday.ts"
import { failureOf } from "./failures.ts"
import { grantTools } from "./grants.ts"
import { hubTools } from "./hub.ts"
import { imageTools } from "./images.ts"
import { importTools } from "./imports.ts"
import { instructionsFor } from "./instructions.ts"
import { calledIn, callTool, findToolsIn } from "./meta-tools.ts"
import { projectTools } from "./projects.ts"
import { promptMethods } from "./prompts.ts"
import { publishingTools } from "./publishing.ts"
import { registryTools } from "./registries.ts"
import { serverTools } from "./servers.ts"
import { doorSkills } from "./skills.ts"
import { type Tool, Toolset } from "./Tool.ts"
import { verificationTools } from "./verification.ts"

/** The toolsets to list whole; undefined: the everyday tools, by which all others are found and called. */
export type Selection = ReadonlySet<Toolset> | undefined

/** The caller and its IP address. */
export interface CallContext {
  readonly actor: Actor
  readonly address: string
}

/** A call's result, the question before it, or the protocol's error. */
type Outcome = Answer | ForeignState

/** Reports each step to a client that asked for it. */
const reportTo = ({ progress: tell }: Asked, progressToken: string | number | undefined): Report => {
  let progress = -1
  return ({ message, step, total }) =>
    progressToken === undefined ? Effect.void : Effect.promise(() => {
      // It must grow with each notification (MCP 2025-11-25, Progress), also where a step is reported again.
      progress = step > progress ? step : Math.round(progress * 1_000 + 1) / 1_000
      return tell({ progressToken, progress, total, message })
    })
}

/** Every tool, with its schemas built once. `serverFor` makes a server whose calls run as the given caller. */
export class McpTools extends Effect.Service<McpTools>()("tools/McpTools", {
  effect: Effect.gen(function*() {
    const tools: ReadonlyArray<Tool> = [
      ...(yield* accountTools),
      ...(yield* projectTools),
      ...(yield* serverTools),
      ...(yield* environmentTools),
      ...(yield* deploymentTools),
      ...(yield* registryTools),
      ...(yield* imageTools),
      ...(yield* clientTools),
      ...(yield* businessTools),
      ...(yield* hubTools),
      ...(yield* compositeTools),
      ...(yield* importTools),
      ...(yield* catalogTools),
      ...(yield* verificationTools),
      ...(yield* publishingTools),
      ...(yield* directoryTools),
      ...(yield* grantTools),
      ...(yield* billingTools)
    ]
    const byName = new Map(tools.map((tool) => [tool.name, tool]))
    const findTools = findToolsIn(tools)
    const called = calledIn(byName)
    const meta = [findTools, callTool]
    const isWhole = (selection: ReadonlySet<Toolset>) => Toolset.literals.every((toolset) => selection.has(toolset))
    const listed = [...everyday.flatMap((name) => byName.get(name) ?? []), ...meta].map((tool) => {
      return { tool, short: shortOf(describeTool(tool)) }
    })
    const callable = new Map([...byName, ...meta.map((tool) => [tool.name, tool] as const)])
    const skills = yield* doorSkills
    const complete = yield* completions
    const confirmed = yield* confirmations
    const described = new Map([...tools, ...meta].map((tool) => [tool, describeTool(tool)]))
    const runPromise = Runtime.runPromise(yield* Effect.runtime<never>())

    /** The same for all instances and requests of a credential: a client's prompt cache lasts. */
    const listFor = (actor: Actor, selection: Selection) =>
      selection === undefined
        ? listed.flatMap(({ short, tool }) => tool.allows(actor) ? [short] : [])
        : [...tools.filter(({ toolset }) => selection.has(toolset)), ...isWhole(selection) ? meta : []]
          .flatMap((tool) => tool.allows(actor) ? described.get(tool) ?? [] : [])

    const failure = (tool: Tool) => (cause: Cause.Cause<unknown>): Effect.Effect<Outcome> => {
      const error = Cause.failureOption(cause)
      if (Option.isSome(error) && error.value instanceof ForeignState) return Effect.succeed(error.value)
      return Cause.isInterruptedOnly(cause) ? Effect.interrupt : Effect.map(failureOf(cause), failed(tool))
    }

    /** Asks first, where the tool and the client do. */
    const answer = (
      tool: Tool,
      args: unknown,
      report: Report,
      asked: Asked
    ): Effect.Effect<Outcome, never, CurrentActor> =>
      confirmed(tool, args, asked).pipe(
        Effect.flatMap((asking): Effect.Effect<Outcome, never, CurrentActor> =>
          asking === undefined ? answerOf(tool, args, report, readingOf(asked.revision)) : Effect.succeed(asking)
        ),
        Effect.catchAllCause(failure(tool))
      )

    const call = (tool: Tool, args: unknown, { actor, address }: CallContext, report: Report, asked: Asked) =>
      (tool !== callTool ? answer(tool, args, report, asked) : called(args).pipe(
        Effect.flatMap((inner) => answer(inner.tool, inner.args, report, asked)),
        Effect.catchAllCause(failure(callTool))
      )).pipe(
        Effect.provideService(CurrentActor, actor),
        Effect.provideService(CallerAddress, address),
        Effect.provideService(CallerLeft, leavingBy(asked.left))
      )

    const methodsFor = (context: CallContext, selection: Selection): Methods => ({
      "tools/list": () => ({ tools: listFor(context.actor, selection) }),
      "tools/call": async ({ _meta, arguments: args = {}, name }, asked) => {
        const tool = callable.get(name)
        if (tool === undefined) throw unknownTool(name, [...callable.keys()], "find_tools finds one by what it does.")
        const report = reportTo(asked, _meta?.progressToken)
        const outcome = await runPromise(call(tool, args, context, report, asked), { signal: asked.signal })
        if (outcome instanceof ForeignState) throw outcome.error
        return outcome
      },
      ...skillMethods(skills(context.actor)),
      ...promptMethods(complete(context.actor, context.address))
    })

    const serverFor = (context: CallContext, selection: Selection): ServedMcp => ({
      info: { name: "berth", title: "Berth", version },
      capabilities: { tools: {}, prompts: {}, completions: {}, ...skillCapabilities },
      instructions: instructionsFor((name) => byName.get(name)?.allows(context.actor) === true),
      methods: methodsFor(context, selection),
      lists: { ttlMs: 300_000, cacheScope: "private" }
    })

    return { serverFor, names: tools.map((tool) => tool.name) } as const
  })
}) {}
