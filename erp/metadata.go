package erp

import (
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
)

// Version grows with every released change of the description.
const Version = 3

// LinesMax is how many lines a document can have; 5-20 are typical.
const LinesMax = 200

// kind is a type of document: its description and its rules, which have a file of their own.
type kind struct {
	describe func() metadata.Document
	rules    posting.Rules
}

// kinds of documents; a new one is added here.
var kinds = []kind{
	{customerOrder, customerOrderRules{}},
	{supplierOrder, supplierOrderRules{}},
	{goodsReceipt, receiptRules{}},
	{goodsSale, saleRules{}},
	{serviceSale, serviceSaleRules{}},
	{invoiceIssued, invoiceIssuedRules{}},
	{bankReceipt, bankReceiptRules{}},
	{internalConsumption, consumptionRules{}},
	{warehouseIssueOrder, issueOrderRules{}},
	{settlementRegistrar, registrarRules{}},
	{otherGoodsReceipt, otherReceiptRules{}},
	{servicePurchase, servicePurchaseRules{}},
	{invoiceReceived, invoiceReceivedRules{}},
	{paymentRequest, paymentRequestRules{}},
	{bankPayment, bankPaymentRules{}},
	{warehouseReceiptOrder, receiptOrderRules{}},
	{assetCommissioning, commissioningRules{}},
	{monthClose, monthCloseRules{}},
}

// application is the description that rules look things up in.
var application = Metadata()

// Metadata describes the ERP. Items, services and their groups are shared by the organisations of the group; everything
// else belongs to one of them. Registers are written in the order in which they stand here.
func Metadata() *metadata.Application {
	app := &metadata.Application{
		Name: "erp", Version: Version, Catalogs: catalogs(),
		Information: []metadata.Information{supplierNumbers(), invoicesByBasis(), invoiceNumbers(), bankReferences(), requestsByBasis(), assetStates()},
		Accumulation: []metadata.Accumulation{
			customerOrders(), supplierOrders(), stock(), batches(), reserves(), toReceive(), toShip(), cells(),
			customerSettlements(), supplierSettlements(), customerPlan(), supplierPlan(),
			inputVAT(), outputVAT(), purchaseBook(), salesBook(), cash(), paymentPlan(), payments(), customerAdvances(), supplierAdvances(), investments(), assetCosts(),
		},
		Accounting: []metadata.Accounting{general()},
	}
	for _, k := range kinds {
		app.Documents = append(app.Documents, k.describe())
	}
	return app
}

// Rules of the documents, by name.
func Rules() map[string]posting.Rules {
	rules := make(map[string]posting.Rules, len(kinds))
	for _, k := range kinds {
		rules[k.describe().Name] = k.rules
	}
	return rules
}

func text(name string, length int) metadata.Attribute {
	return metadata.Attribute{Name: name, Type: metadata.Text, Length: length}
}

func typed(name string, kind metadata.Type) metadata.Attribute {
	return metadata.Attribute{Name: name, Type: kind}
}

func reference(name, catalog string) metadata.Attribute {
	return metadata.Attribute{Name: name, Type: metadata.Reference, Catalog: catalog}
}

// paper refers to a document of one of the types.
func paper(name string, types ...string) metadata.Attribute {
	return metadata.Attribute{Name: name, Type: metadata.Reference, Documents: types}
}

// anyPaper is a dimension that refers to a document of any type.
func anyPaper(name string) metadata.Attribute {
	return metadata.Attribute{Name: name, Type: metadata.Reference, Document: true}
}

func required(a metadata.Attribute) metadata.Attribute {
	a.Required = true
	return a
}

func computed(name string, kind metadata.Type) metadata.Attribute {
	return metadata.Attribute{Name: name, Type: kind, Computed: true}
}
