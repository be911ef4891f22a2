const csv = (rows: ReadonlyArray<string>) => `${rows.join("\r\n")}\r\n`

/** Files to start from, by their names (contract: Import, templates). Each imports without a warning. */
export const templates: Readonly<Record<string, string>> = {
  generic_catalog: csv([
    "name,description,price,price_type,item_type,category",
    "Gift card,\"For any amount, valid for a year\",25.00,starting_at,product,Gifts",
    "Tote bag,Organic cotton,14.50,fixed,product,Merchandise",
    "Workshop,Two hours in a small group,60.00,hourly,service,Events",
    "First conversation,What you need and what it may cost,,free_estimate,consultation,Services"
  ]),
  restaurant_menu: csv([
    "name,description,price,item_type,category",
    "Tomato soup,\"Roasted tomatoes, basil, cream\",7.50,menu_item,Starters",
    "Garden salad,Leaves of the season,8.25,menu_item,Starters",
    "Margherita,\"Tomato, mozzarella, basil\",13.90,menu_item,Pizza",
    "Lemonade,Made here,4.00,menu_item,Drinks"
  ]),
  retail_inventory: csv([
    "name,description,price,item_type,category",
    "Linen shirt,\"Relaxed fit, sizes S to XL\",48.00,product,Clothing",
    "Wool socks,Pair,12.95,product,Clothing",
    "Ceramic mug,\"0.3 litres, dishwasher safe\",16.00,product,Kitchen"
  ]),
  services_catalog: csv([
    "name,description,price,price_type,item_type,category",
    "Boiler inspection,Yearly check with a report,89.00,fixed,service,Heating",
    "Plumber,\"Materials are extra, one hour at least\",75.00,hourly,service,Plumbing",
    "Bathroom renovation,From the plan to the last tile,4500.00,starting_at,service,Renovation",
    "Site visit,We look at it and name a price,,free_estimate,consultation,Renovation"
  ])
}
