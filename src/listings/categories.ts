import { type TemplateType } from "#src/format/ReadyConfig.ts"

/** What the directory calls a template. `custom` says nothing of a business. */
const labels: Readonly<Record<Exclude<TemplateType, "custom">, string>> = {
  restaurant: "Restaurant",
  salon: "Salon",
  home_services: "Home services",
  retail: "Retail",
  professional_services: "Professional services"
}

/** The categories of a listing whose owner set none: the business's category, and its template's name. */
export const categoriesOf = (
  { category, templateType }: { readonly category: string; readonly templateType: string }
) => {
  const label = Object.hasOwn(labels, templateType) ? labels[templateType as keyof typeof labels] : undefined
  const own = category.trim()
  const isTwice = label !== undefined && own.toLowerCase() === label.toLowerCase()
  return [...(own === "" ? [] : [own]), ...(label === undefined || isTwice ? [] : [label])]
}
