package erp

import "plimsoll/platform/metadata"

// Registers of fixed assets.
const (
	AssetStates = "asset_states"
	AssetCosts  = "asset_costs"
	Investments = "asset_investments"
)

// investments is what has been spent on assets that are not in use yet: account 08.
func investments() metadata.Accumulation {
	return metadata.Accumulation{
		Name: Investments, Title: "Investments in fixed assets", Controlled: true, Dimensions: []metadata.Attribute{reference("asset", "fixed_assets")},
		Resources: []metadata.Attribute{typed("amount", metadata.Money)},
	}
}

// assetStates: an asset is commissioned once.
func assetStates() metadata.Information {
	return metadata.Information{
		Name: AssetStates, Title: "Commissioned assets", Dimensions: []metadata.Attribute{reference("asset", "fixed_assets")},
		Resources: []metadata.Attribute{reference("department", "departments"), typed("useful_months", metadata.Integer), typed("since", metadata.Moment)},
	}
}

// assetCosts is what assets in use have cost: account 01.
func assetCosts() metadata.Accumulation {
	return metadata.Accumulation{
		Name: AssetCosts, Title: "Cost of fixed assets", Controlled: true, Dimensions: []metadata.Attribute{reference("asset", "fixed_assets")},
		Resources: []metadata.Attribute{typed("amount", metadata.Money)},
	}
}
