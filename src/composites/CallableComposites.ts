import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { InsufficientScope } from "#src/oauth/scopes/InsufficientScope.ts"
import { allowsEverything } from "#src/oauth/scopes/mcp-scopes.ts"
import { mcpUrl, publicUrl, sseUrl } from "#src/servers/addresses.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { traced } from "#src/shared/traced.ts"
import { GetPromptResultSchema, ReadResourceResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { Clock, Effect } from "effect"
import { LRUCache } from "lru-cache"
import { answerOf, asksForInput, inputNeeded, noToolResult, resultOf, toolResultOf } from "./answers.ts"
import { obstacleOf, type Reached, resting } from "./callable-member.ts"
import {
  type FindTools,
  MemberFailed,
  type MemberList,
  NotOffered,
  reservedNames,
  withoutMembers
} from "./CallableComposite.ts"
import { chosenBusinesses } from "./chosen-businesses.ts"
import { businessesArgument } from "./input-schema.ts"
import { areSearched, describedIn, forModels, foundIn, insteadOf, toolNamed } from "./many-tools.ts"
import { hindered, left } from "./member-outcome.ts"
import { memberScope, reachesEverybodysOnly } from "./member-scope.ts"
import { MemberCalls } from "./MemberCalls.ts"
import { inShares, weightOf } from "./members-share.ts"
import { merge, type Merged } from "./merge.ts"
import { OfferingsRepo } from "./OfferingsRepo.ts"
import { parsedResult } from "./parsed-result.ts"
import { templateOwner } from "./prompts-and-resources.ts"
import { type Begun, ReachedComposites } from "./ReachedComposites.ts"
import { scopesToAsk } from "./scopes-to-ask.ts"

type Fields = Readonly<Record<string, unknown>>

/** A composite as one request of a caller sees it. */
export interface Opened {
  readonly composite: MemberList["composite"]
  /** Best ranked first, by slug. */
  readonly reached: ReadonlyMap<string, Reached>
  readonly merged: Merged
}

/** Merged lists are kept up to so many values in their schemas, together: a value takes some 70 bytes. */
const valuesKept = 1_000_000

/**
 * Composites as MCP servers (docs/decisions/callable-composites.md). What they list was stored when their members were
 * deployed; only calls, prompts and resources are asked of members.
 */
export class CallableComposites extends Effect.Service<CallableComposites>()("composites/CallableComposites", {
  effect: Effect.gen(function*() {
    const composites = yield* ReachedComposites
    const offerings = yield* OfferingsRepo
    const calls = yield* MemberCalls
    const settings = yield* CurrentSettings
    const merges = new LRUCache<string, Merged>({ maxSize: valuesKept })

    /** Made once for the same deployments of the same members in the same order. */
    const mergedOf = Effect.fnUntraced(function*(reached: ReadonlyArray<Reached>) {
      const callable = reached.filter(({ obstacle }) => obstacle?.isPassing ?? true)
      const key = JSON.stringify(
        callable.map(({ name, server, slug }) => [slug, name, server?.listedBy])
      )
      const kept = merges.get(key)
      if (kept !== undefined) return kept
      const stored = inShares(yield* offerings.features(callable.map(({ listingId }) => listingId)))
      const features = new Map(stored.map((row) => [row.listingId, row.features]))
      const made = merge(
        callable.flatMap(({ listingId, name, slug }) => {
          const found = features.get(listingId)
          return found === undefined ? [] : [{ slug, name, features: found }]
        }),
        reservedNames
      )
      merges.set(key, made, { size: Math.ceil(weightOf(stored)) + key.length })
      return made
    })

    /** The composite for the caller; fails when it may not read it. */
    const open = traced("CallableComposites.open")(function*(id: string, begun?: Begun) {
      const caller = yield* CurrentActor
      yield* memberScope
      const { description, members, name, ...composite } = yield* composites.readable({ id, caller, begun })
      const who = { accountId: caller.accountId, forEverybody: reachesEverybodysOnly(caller) }
      const at = yield* Clock.currentTimeMillis
      const restOf = (server: Reached["server"]) => {
        const seconds = server === null ? 0 : calls.rest(caller.accountId, server.serverId, at)
        return seconds === 0 ? undefined : resting(seconds)
      }
      const reached = members.map((member): Reached => ({
        ...member,
        obstacle: obstacleOf(member.server, who) ?? restOf(member.server)
      }))
      return {
        composite: { id: composite.id, name, description },
        reached: new Map(reached.map((one) => [one.slug, one])),
        merged: yield* mergedOf(reached)
      } satisfies Opened
    })

    /** Fails when the caller's token for the composite is too little for the JSON-RPC body, which is read for such alone. */
    const permit = <E>({ merged }: Opened, body: Effect.Effect<unknown, E>) =>
      Effect.gen(function*() {
        const scope = yield* memberScope
        const scopes = allowsEverything(scope) ? undefined : scopesToAsk(merged, yield* body, scope)
        if (scopes !== undefined) return yield* new InsufficientScope({ scopes })
      })

    const members = ({ composite, merged, reached }: Opened): MemberList => ({
      composite,
      members: [...reached.values()].map(({ name, obstacle, server, slug }) => ({
        slug,
        name,
        callable: obstacle === undefined,
        ...(obstacle === undefined ? {} : {
          code: obstacle.code,
          reason: obstacle.reason,
          ...(obstacle.grantId === undefined ? {} : { grantId: obstacle.grantId })
        }),
        mcpServerUrl: server === null ? "" : (server.transport === "sse" ? sseUrl : mcpUrl)(settings, server.serverSlug)
      })),
      ...(reached.size === 0 ? { note: withoutMembers } : {}),
      clashes: merged.clashes
    })

    const listed = ({ merged }: Opened) => forModels(merged.tools)
    const isSearched = ({ merged }: Opened) => areSearched(merged.tools)
    const find = ({ merged }: Opened, asked: typeof FindTools.Type) => foundIn(merged.tools, asked)
    const describe = ({ merged }: Opened, names: ReadonlyArray<string>) => describedIn(merged.tools, names)
    const instead = ({ merged }: Opened, name: string) => insteadOf(merged.tools, name)

    /** One request to members at once; the outcomes in the order of their slugs. */
    const ask = Effect.fnUntraced(
      function*({ reached }: Opened, slugs: ReadonlyArray<string>, method: string, params: Fields) {
        const found = slugs.flatMap((slug) => {
          const { obstacle, server } = reached.get(slug) ?? {}
          return server === undefined || server === null || obstacle !== undefined ? [] : [{ slug, server }]
        })
        const outcomes = yield* calls.request(
          found.map(({ server }) => ({
            ...server,
            slug: server.serverSlug,
            publicUrl: publicUrl(settings, server.serverSlug),
            transport: server.transport ?? "streamable-http"
          })),
          { method, params, scope: yield* memberScope }
        )
        const bySlug = new Map(
          found.map(({ slug }, at) => [slug, outcomes[at]])
        )
        return slugs.map((slug) => ({ slug, outcome: bySlug.get(slug) ?? hindered(reached.get(slug)) }))
      }
    )

    /** The result of what only one member is asked, as it came. */
    const askOne = Effect.fnUntraced(function*(opened: Opened, slug: string, method: string, params: Fields) {
      const [{ outcome } = { outcome: left }] = yield* ask(opened, [slug], method, params)
      if (outcome._tag === "Answered") return outcome.result
      return yield* new MemberFailed({ slug, code: outcome.code, reason: outcome.message, rpcCode: outcome.rpcCode })
    })

    const callAlone = Effect.fnUntraced(function*(opened: Opened, slug: string, name: string, args: Fields) {
      const result = yield* askOne(opened, slug, "tools/call", { name, arguments: args })
      const decoded = asksForInput(result) ? undefined : toolResultOf(result)
      if (decoded !== undefined) return decoded
      const { code, message } = asksForInput(result) ? inputNeeded : noToolResult
      return yield* new MemberFailed({ slug, code, reason: message })
    })

    /** What a member answered, if it is what the protocol asks for. */
    const checked = <A>(slug: string, result: A | undefined) =>
      result !== undefined
        ? Effect.succeed(result)
        : new MemberFailed({ slug, code: "member_answer_invalid", reason: "its answer is not what MCP asks for" })

    /** Calls a tool: a merged one at each of the chosen members at once, which answer or don't, each for itself. */
    const call = traced("CallableComposites.call")(function*(opened: Opened, name: string, args: Fields) {
      const tool = yield* toolNamed(opened.merged.tools, name)
      if (tool.kind === "member") return yield* callAlone(opened, tool.slug, tool.tool, args)
      const { [businessesArgument]: asked, ...own } = args
      const chosen = chosenBusinesses(
        asked,
        tool.slugs,
        (slug) => opened.reached.get(slug)?.obstacle === undefined
      )
      if (typeof chosen === "string") return yield* Invalid.field(businessesArgument, chosen)
      const outcomes = yield* ask(opened, chosen.answering, "tools/call", { name: tool.tool, arguments: own })
      return resultOf(outcomes.map(({ outcome, slug }) => answerOf(slug, outcome)), chosen.notAsked)
    })

    const getPrompt = Effect.fn("CallableComposites.getPrompt")(function*(opened: Opened, name: string, args: Fields) {
      const found = opened.merged.prompts.find((prompt) => prompt.name === name)
      if (found === undefined) return yield* new NotOffered({ what: "prompt", name })
      const result = yield* askOne(opened, found.slug, "prompts/get", { name: found.prompt.name, arguments: args })
      return yield* checked(found.slug, parsedResult(GetPromptResultSchema, "messages", result))
    })

    const readResource = Effect.fn("CallableComposites.readResource")(function*(opened: Opened, uri: string) {
      const { resources, templates, views } = opened.merged
      const view = views.get(uri)
      const slug = view?.slug ?? resources.get(uri)?.slug ?? templateOwner(templates, uri)
      if (slug === undefined) return yield* new NotOffered({ what: "resource", name: uri })
      const own = view?.uri ?? uri
      const result = yield* askOne(opened, slug, "resources/read", { uri: own })
      const read = yield* checked(slug, parsedResult(ReadResourceResultSchema, "contents", result))
      return { ...read, contents: read.contents.map((one) => one.uri === own ? { ...one, uri } : one) }
    })

    return {
      begin: composites.begin,
      open,
      permit,
      members,
      listed,
      isSearched,
      instead,
      find,
      describe,
      call,
      getPrompt,
      readResource
    } as const
  })
}) {}
