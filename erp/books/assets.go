package books

import "plimsoll/platform/model/metadata"

// Investments is what has been spent on assets that are not in use yet: account 08.
var Investments = accumulation(metadata.Accumulation{
	Name: "asset_investments", Title: "Investments in fixed assets", Controlled: true,
	Dimensions: Attributes(Asset), Resources: Attributes(Amount),
})

// AssetStates: an asset is commissioned once.
var AssetStates = stated(metadata.Information{
	Name: "asset_states", Title: "Commissioned assets", Dimensions: Attributes(Asset),
	Resources: Attributes(Department, UsefulMonths, MomentAttr("since")),
})

// AssetCosts is what assets in use have cost: account 01.
var AssetCosts = accumulation(metadata.Accumulation{
	Name: "asset_costs", Title: "Cost of fixed assets", Controlled: true,
	Dimensions: Attributes(Asset), Resources: Attributes(Amount),
})
