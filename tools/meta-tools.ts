import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { credentialFor } from "#src/accounts/Policy.ts"
import { didYouMean } from "#src/format/nearest.ts"
import { decodeInput, failsWith } from "#src/shared/Failure.ts"
import { Input, optional, Text } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { withoutLengths } from "./plain-schema.ts"
import { closestWords, searchTools } from "./search-tools.ts"
import { groups } from "./tool-words.ts"
import { type Tool, tool, Toolset } from "./Tool.ts"

const Fields = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
  // Validators reject the `$id` of Schema.Unknown where it stands twice.
  jsonSchema: { type: "object" }
})

/** What `find_tools` shows whole, unless it is asked for more: output schemas are long. */
const usuallyShown = 3
/** Further matches, of which it tells the name and title. */
const mostOthers = 7

const FoundTool = Schema.Struct({
  name: Schema.String,
  title: Schema.String,
  whenToUse: Schema.String,
  readOnly: Schema.Boolean,
  destructive: Schema.Boolean.annotations({ description: "It removes or replaces something, or costs money" }),
  inputSchema: Fields,
  outputSchema: optional(Fields).annotations({ description: "Absent: it answers nothing but that it is done" })
})

const FoundTools = Schema.Struct({
  tools: Schema.Array(FoundTool),
  others: Schema.Array(Schema.Struct({ name: Schema.String, title: Schema.String })).annotations({
    description: "Weaker matches: find_tools with such a name tells all of it"
  }),
  hint: optional(Schema.String).annotations({
    description: "Where nothing matches: what to try; and which matches need another credential"
  }),
  groups: optional(
    Schema.Array(Schema.Struct({ about: Schema.String, toolset: Toolset, tools: Schema.Array(Schema.String) }))
  ).annotations({ description: "All that there is, where nothing matches" })
})

/** With input schemas: who reads the text alone has to write the arguments. */
const foundText = ({ groups = [], hint, others, tools }: typeof FoundTools.Encoded) =>
  [
    ...tools.map(({ destructive, inputSchema, name, readOnly, whenToUse }) =>
      `${name}${readOnly ? " (reads)" : destructive ? " (destructive)" : ""}: ${whenToUse}\narguments: ${
        JSON.stringify(withoutLengths(inputSchema))
      }`
    ),
    ...(others.length === 0 ? [] : [`Others: ${others.map(({ name }) => name).join(", ")}`]),
    ...(hint === undefined ? [] : [hint]),
    ...groups.map(({ about, tools, toolset }) => `${about} (toolset ${toolset}): ${tools.join(", ")}`)
  ].join("\n")

/** The arguments of `call_tool`; those of the tool that it names are decoded by that tool. */
const CallToolArguments = Input({
  name: Text(128).annotations({ description: "A name from find_tools" }),
  arguments: optional(Fields).annotations({
    description: "As its inputSchema says",
    jsonSchema: { type: "object" }
  })
})

class ToolNotFound extends Schema.TaggedError<ToolNotFound>()("ToolNotFound", {
  name: Schema.String,
  names: Schema.Array(Schema.String)
}, failsWith(404)) {
  override get message() {
    if (this.name === "find_tools") {
      return "call_tool does not call find_tools: call find_tools directly, by its own name."
    }
    if (this.name === "call_tool") {
      return "call_tool does not call itself: call the tool that you want directly, or name it."
    }
    return `There is no tool ${this.name}.${didYouMean(this.name, this.names)} find_tools finds one by what it does.`
  }
}

const common = { toolset: "deploy", needs: "anybody" } as const

/** What matches and the credential may not call: what each of these needs. */
const refusedHint = (refused: ReadonlyArray<Tool>) => {
  const needed = [...new Set(refused.map(({ needs }) => credentialFor(needs)))]
  return needed.map((needs) => {
    const names = refused.filter((one) => credentialFor(one.needs) === needs).map(({ name }) => name).join(", ")
    return `Your credential may not call ${names}: that needs ${needs}.`
  }).join(" ")
}

/**
 * Finds tools that the list has no room for. Its matches are those alone that the credential may call; its hint says which
 * better ones need another.
 */
export const findToolsIn = (tools: ReadonlyArray<Tool>) => {
  const search = searchTools(tools)
  const groupsFor = (allowed: ReadonlyArray<Tool>) =>
    groups.flatMap(({ about, tools, toolset }) => {
      const names = allowed.filter(({ name }) => tools.test(name)).map(({ name }) => name)
      return names.length === 0 ? [] : [{ about, toolset, tools: names }]
    })
  const nothing = (query: string, actor: Actor) => {
    const allowed = tools.filter((one) => one.allows(actor))
    const words = closestWords(allowed, query)
    const closest = words.length === 0 ? "" : ` Words close to yours: ${words.join(", ")}.`
    return {
      hint:
        `No tool that you may call matches "${query}".${closest} Say in other words what you want to do, or choose ` +
        "a name from the groups below: find_tools with it tells how to call it",
      groups: groupsFor(allowed)
    }
  }
  const matching = (query: string, limit: number, actor: Actor) => {
    const { found, named } = search(query)
    const all = [...named, ...found]
    const refused = (named.length > 0 ? named : found.slice(0, limit)).filter((one) => !one.allows(actor))
    const allowed = all.filter((one) => one.allows(actor))
    // Where a tool is named that the credential may not call, others do not stand for it.
    const shown = named.length > 0 && !named.some((one) => one.allows(actor)) ? 0 : limit
    return { shown: allowed.slice(0, shown), others: allowed.slice(shown, shown + mostOthers), refused }
  }
  return tool({
    ...common,
    name: "find_tools",
    title: "Find tools",
    description:
      "Finds tools that are not in this list by what you want to do: delete or stop a server, share one, API " +
      "keys, opening hours, analytics, composites, payment. Tells when to use each and its schemas; then " +
      "call_tool.",
    effect: "read",
    params: Input({
      query: Text(200).annotations({ description: "A few words, such as `stop a server`, or a tool's name" }),
      limit: optional(
        Schema.Number.pipe(Schema.int(), Schema.between(1, 10)).annotations({
          description: `How many to tell whole, ${usuallyShown} by default`,
          jsonSchema: { type: "integer", minimum: 1, maximum: 10 }
        })
      )
    }),
    success: FoundTools,
    text: foundText,
    run: ({ limit = usuallyShown, query }) =>
      Effect.map(CurrentActor, (actor) => {
        const { others, refused, shown } = matching(query, limit, actor)
        return {
          tools: shown.map(({ annotations, description, inputSchema, name, outputSchema, title }) => ({
            name,
            title,
            whenToUse: description,
            readOnly: annotations.readOnlyHint === true,
            destructive: annotations.destructiveHint === true,
            inputSchema,
            ...(outputSchema === undefined ? {} : { outputSchema })
          })),
          others: others.map(({ name, title }) => ({ name, title })),
          ...(refused.length > 0
            ? { hint: refusedHint(refused) }
            : shown.length + others.length === 0
            ? nothing(query, actor)
            : {})
        }
      })
  })
}

/** `call_tool` as it is listed. Calling it is calling the tool that it names (`calledIn`). */
export const callTool = tool({
  ...common,
  name: "call_tool",
  title: "Call a tool",
  description:
    "Calls a tool that find_tools found, with its arguments; the answer is that tool's own. Ask the user before " +
    "a destructive one.",
  effect: "unknown",
  params: CallToolArguments,
  run: () => Effect.void
})

/** The tool that `call_tool` names, and its arguments. */
export const calledIn = (tools: ReadonlyMap<string, Tool>) => {
  const decode = decodeInput(CallToolArguments)
  return (args: unknown) =>
    Effect.flatMap(decode(args), ({ arguments: given = {}, name }) => {
      const called = tools.get(name)
      return called === undefined
        ? new ToolNotFound({ name, names: [...tools.keys()] })
        : Effect.succeed({ tool: called, args: given })
    })
}
