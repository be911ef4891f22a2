import { describedAnswers } from "./answers.ts"
import { type DescribedTools } from "./CallableComposite.ts"
import { type AnyTool } from "./merge.ts"

/** A tool as `describe_tools` shows it, with the schemas that a list of many leaves out. */
export const described = (tool: AnyTool): DescribedTools["tools"][number] => ({
  name: tool.name,
  ...(tool.title === undefined ? {} : { title: tool.title }),
  description: tool.description,
  inputSchema: tool.inputSchema,
  ...(tool.kind === "merged"
    ? {
      outputSchema: describedAnswers,
      ...(tool.memberOutput === undefined ? {} : { resultSchema: tool.memberOutput })
    }
    : tool.memberOutput === undefined
    ? {}
    : { outputSchema: tool.memberOutput }),
  annotations: { ...tool.annotations },
  ...(tool._meta === undefined ? {} : { _meta: tool._meta })
})
