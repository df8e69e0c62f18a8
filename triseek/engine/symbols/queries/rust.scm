(mod_item name: (identifier) @name) @module
(struct_item name: (type_identifier) @name) @struct
(enum_item name: (type_identifier) @name) @enum
(enum_variant name: (identifier) @name) @enumerator
(union_item name: (type_identifier) @name) @union
(trait_item name: (type_identifier) @name) @trait
(associated_type name: (type_identifier) @name) @typedef
(type_item name: (type_identifier) @name) @typedef
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(field_declaration name: (field_identifier) @name) @field
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @variable
(macro_definition name: (identifier) @name) @macro
(impl_item type: [
  (type_identifier) @name
  (generic_type type: (type_identifier) @name)
  (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
  (scoped_type_identifier name: (type_identifier) @name)
  (reference_type type: (type_identifier) @name)
  (primitive_type) @name
]) @scope.struct
(closure_expression) @local
