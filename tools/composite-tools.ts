import {
  CallTool,
  DescribedTools,
  DescribeTools,
  FindTools,
  FoundTools,
  MemberList,
  ownToolNames
} from "#src/composites/CallableComposite.ts"
import { CallableComposites, type Opened } from "#src/composites/CallableComposites.ts"
import { NoInput } from "#src/shared/text.ts"
import { Context, Effect, Schema } from "effect"
import { ofHub } from "./of-hub.ts"
import { tool } from "./Tool.ts"

/** The composite that a request is for. */
export class CurrentComposite extends Context.Reference<CurrentComposite>()("tools/CurrentComposite", {
  defaultValue: (): Opened => {
    throw new Error("no composite was opened for this request")
  }
}) {}

const common = { ...ofHub, needs: "anybody" } as const

/** The composite's own tools, beside those of its members. */
export const compositeTools = Effect.map(CallableComposites, (composites) => ({
  members: tool({
    ...common,
    name: ownToolNames.members,
    title: "List the businesses",
    description:
      "Lists the businesses of this composite, the best ranked first, with the slugs by which other tools name them; " +
      "says which can't be called here and why, and which tools are left out because two have one name.",
    effect: "read",
    params: NoInput,
    success: MemberList,
    run: () => Effect.map(CurrentComposite, composites.members)
  }),
  find: tool({
    ...common,
    name: ownToolNames.find,
    title: "Find tools",
    description:
      "Finds tools of the businesses by words of what is to be done. This composite has too many to list: find one, " +
      "read it with describe_tools, then call it with call_tool.",
    effect: "read",
    params: FindTools,
    success: FoundTools,
    run: (input) => Effect.map(CurrentComposite, (opened) => composites.find(opened, input))
  }),
  describe: tool({
    ...common,
    name: ownToolNames.describe,
    title: "Describe tools",
    description: "Tells the arguments and the results of tools that find_tools found, as JSON Schemas.",
    effect: "read",
    params: DescribeTools,
    success: DescribedTools,
    // Schemas, which mean nothing in part.
    text: ({ tools, unknown = [] }) =>
      [
        ...tools.map((one) => JSON.stringify(one)),
        ...unknown.map(({ instead, name }) => `There is no tool ${name}. ${instead}`)
      ].join("\n"),
    run: ({ names }) => Effect.flatMap(CurrentComposite, (opened) => composites.describe(opened, names))
  }),
  call: tool({
    ...common,
    name: ownToolNames.call,
    title: "Call a tool",
    description: "Calls a tool that find_tools found, with the arguments that describe_tools tells.",
    effect: "unknown",
    params: CallTool,
    success: Schema.Unknown,
    run: ({ arguments: args = {}, name }) =>
      Effect.flatMap(CurrentComposite, (opened) => composites.call(opened, name, args))
  })
}))
