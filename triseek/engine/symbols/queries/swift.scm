(class_declaration declaration_kind: "class" name: (type_identifier) @name) @class
(class_declaration declaration_kind: "actor" name: (type_identifier) @name) @class
(class_declaration declaration_kind: "struct" name: (type_identifier) @name) @struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @enum
(class_declaration
  declaration_kind: "extension" name: (user_type (type_identifier) @name .)) @scope.class
(protocol_declaration name: (type_identifier) @name) @protocol
(enum_entry name: (simple_identifier) @name) @enumerator
(function_declaration name: (simple_identifier) @name) @function
(protocol_function_declaration name: (simple_identifier) @name) @method
(protocol_property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)) @field
(associatedtype_declaration name: (type_identifier) @name) @typealias
(typealias_declaration name: (type_identifier) @name) @typealias
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @variable
[(lambda_literal) (init_declaration) (deinit_declaration) (computed_property)
 (subscript_declaration)] @local
